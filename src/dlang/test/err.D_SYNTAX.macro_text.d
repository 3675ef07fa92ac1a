BEGIN
{
	x = $6;
}
/* expect-error 3: D_SYNTAX syntax error near "two words" (the value of $6; write $$6 for a string) */
