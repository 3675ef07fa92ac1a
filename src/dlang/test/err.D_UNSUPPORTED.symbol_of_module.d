BEGIN
{
	trace(vmlinux`jiffies);
}
/* expect-error 3: D_UNSUPPORTED kernel symbols are not supported yet: vmlinux`jiffies */
