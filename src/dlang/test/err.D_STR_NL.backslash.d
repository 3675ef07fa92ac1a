BEGIN
{
	x = "a\
b";
}
/* expect-error 4: D_STR_NL newline encountered in string literal */
