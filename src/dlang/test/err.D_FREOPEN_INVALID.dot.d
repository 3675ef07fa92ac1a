BEGIN
{
	freopen(".");
}
/* expect-error 3: D_FREOPEN_INVALID freopen( ) argument #1 cannot be "." */
