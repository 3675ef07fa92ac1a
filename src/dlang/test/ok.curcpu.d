BEGIN
{
	trace(curcpu->cpu_id);
}
/* expect-type (args (builtin cpu:processorid_t)) */
