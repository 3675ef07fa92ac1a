BEGIN
{
	@a = count();
	normalize(@a, "a");
}
/* expect-error 4: D_NORMALIZE_SCALAR normalize( ) argument #2 must be of scalar type */
