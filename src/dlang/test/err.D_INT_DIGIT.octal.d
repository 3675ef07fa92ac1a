BEGIN
{
	x = 089;
}
/* expect-error 3: D_INT_DIGIT octal digit expected but found 8 */
