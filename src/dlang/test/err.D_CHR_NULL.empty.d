BEGIN
{
	x = '';
}
/* expect-error 3: D_CHR_NULL empty character constant */
