vmlinux`go
{
}
/* expect-error 1: D_PDESC_ZERO probe description :::vmlinux`go does not match any probes */
