BEGIN
{
	trace(vmlinux`jiffies);
}
/* expect-error 3: D_UNSUPPORTED vmlinux`jiffies is a symbol of a kernel: there is none where this runs */
