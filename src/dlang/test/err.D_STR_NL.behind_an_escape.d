/* A backslash takes the quote behind it along, and no newline. */
BEGIN
{
	x = "a\"
";
}
/* expect-error 5: D_STR_NL newline encountered in string literal */
