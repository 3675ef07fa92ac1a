BEGIN
{
	trace(json("abc", "b"));
}
/* expect-error 3: D_UNSUPPORTED json( ) is not supported yet */
