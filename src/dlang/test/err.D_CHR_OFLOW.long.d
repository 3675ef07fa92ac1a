BEGIN
{
	x = 'abcde';
}
/* expect-error 3: D_CHR_OFLOW character constant is too long */
