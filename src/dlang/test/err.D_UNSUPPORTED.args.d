BEGIN
{
	trace(args[0]);
}
/* expect-error 3: D_UNSUPPORTED variable args is not supported yet */
