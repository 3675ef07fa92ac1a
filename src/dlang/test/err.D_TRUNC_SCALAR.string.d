BEGIN
{
	@a = count();
	trunc(@a, "a");
}
/* expect-error 4: D_TRUNC_SCALAR trunc( ) argument #2 must be of scalar type */
