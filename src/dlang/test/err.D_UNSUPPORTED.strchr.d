BEGIN
{
	trace(strchr("abc", 98));
}
/* expect-error 3: D_UNSUPPORTED strchr( ) is not supported yet */
