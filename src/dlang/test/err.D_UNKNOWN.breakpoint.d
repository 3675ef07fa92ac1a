BEGIN
{
	breakpoint();
}
/* expect-error 3: D_UNKNOWN breakpoint() is not supported on Linux: a BPF program cannot stop the kernel */
