BEGIN
{
	uint64_t x;
}
/* expect-error 3: D_SYNTAX syntax error near "x;"; variables are declared in front of clauses, or by what is first assigned to them */
