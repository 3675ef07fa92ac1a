rec:::one
{
	args[0]->size = 3;
}
/* expect-error 3: D_OP_WRITE operator = can only be applied to a writable variable */
