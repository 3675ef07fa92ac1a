rec:::one,
BEGIN
{
	trace(args[0]->size);
}
/* expect-error 4: D_ARGS_MULTI args[ ] may not be referenced because probe description rec:::one matches an unstable set of probes */
