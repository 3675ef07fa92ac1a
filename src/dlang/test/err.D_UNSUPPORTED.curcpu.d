BEGIN
{
	trace(curcpu);
}
/* expect-error 3: D_UNSUPPORTED variable curcpu is not supported yet, but for curcpu->cpu_id */
