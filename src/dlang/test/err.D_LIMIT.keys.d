BEGIN
{
	x[1, 2, 3, 4, 5, 6, 7, 8, 9] = 1;
}
/* expect-error 0: D_LIMIT Insufficient tuple registers to generate code */
