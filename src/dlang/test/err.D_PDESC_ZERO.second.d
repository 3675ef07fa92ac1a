BEGIN,
foo:::bar
{
	trace(1);
}
/* expect-error 2: D_PDESC_ZERO probe description foo:::bar does not match any probes */
