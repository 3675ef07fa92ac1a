rec:::one
{
	x = 0;
	trace(args[x]->size);
}
/* expect-error 4: D_PROTO_ARG args[ ] argument #1 is incompatible with prototype: integer constant expected */
