nosuch:::probe
/args[0]->pid == 1/
{
	trace(1);
}
/* expect-error 1: D_PDESC_ZERO probe description nosuch:::probe does not match any probes */
