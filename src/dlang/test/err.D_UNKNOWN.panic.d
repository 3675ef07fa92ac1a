BEGIN
{
	panic();
}
/* expect-error 3: D_UNKNOWN panic() is not supported on Linux: a BPF program cannot stop the kernel */
