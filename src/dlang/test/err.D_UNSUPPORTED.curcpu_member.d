BEGIN
{
	trace(curcpu->cpu_pset);
}
/* expect-error 3: D_UNSUPPORTED curcpu->cpu_pset is not supported yet */
