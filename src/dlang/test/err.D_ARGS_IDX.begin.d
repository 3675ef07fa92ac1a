BEGIN
{
	trace(args[0]);
}
/* expect-error 3: D_ARGS_IDX index 0 is out of range for :::BEGIN args[ ] */
