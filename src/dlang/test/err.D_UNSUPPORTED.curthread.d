BEGIN
{
	trace(curthread);
}
/* expect-error 3: D_UNSUPPORTED variable curthread is a pointer into a kernel: there is none where this runs */
