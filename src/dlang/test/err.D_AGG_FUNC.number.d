BEGIN
{
	@a = 5;
}
/* expect-error 3: D_AGG_FUNC @a must be assigned the result of an aggregating function */
