BEGIN
{
	x = "a
";
}
/* expect-error 3: D_STR_NL newline encountered in string literal */
