rec:::o*
{
	trace(args[0]->size);
}
/* expect-error 3: D_ARGS_MULTI args[ ] may not be referenced because probe description rec:::o* matches an unstable set of probes */
