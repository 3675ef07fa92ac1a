BEGIN
{
	trace(((struct vmlinux`task_struct *)arg0)->pid);
}
/* expect-error 3: D_UNSUPPORTED kernel types are not known where this runs: vmlinux`task_struct */
