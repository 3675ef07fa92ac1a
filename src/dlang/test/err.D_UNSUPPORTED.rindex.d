BEGIN
{
	trace(rindex("abc", "b"));
}
/* expect-error 3: D_UNSUPPORTED rindex( ) is not supported yet */
