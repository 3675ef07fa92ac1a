BEGIN
{
	@a = sum("a");
}
/* expect-error 3: D_AGG_SCALAR sum( ) argument #1 must be of scalar type */
