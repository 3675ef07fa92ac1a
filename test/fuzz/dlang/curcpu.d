BEGIN
{
	trace(curcpu->cpu_id);
}
