BEGIN
{
	trace(*(vmlinux`u64 *)arg0);
}
/* expect-error 3: D_UNSUPPORTED kernel types are not known where this runs: vmlinux`u64 */
