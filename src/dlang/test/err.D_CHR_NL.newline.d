BEGIN
{
	x = 'a
';
}
/* expect-error 3: D_CHR_NL newline encountered in character constant */
