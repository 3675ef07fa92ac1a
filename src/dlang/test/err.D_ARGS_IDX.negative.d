rec:::one
{
	trace(args[-1]->size);
}
/* expect-error 3: D_ARGS_IDX index -1 is out of range for rec:::one args[ ] */
