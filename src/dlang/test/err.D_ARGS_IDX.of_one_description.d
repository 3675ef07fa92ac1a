rec:::two,
rec:::one
{
	trace(args[1]->count);
}
/* expect-error 4: D_ARGS_IDX index 1 is out of range for rec:::one args[ ] */
