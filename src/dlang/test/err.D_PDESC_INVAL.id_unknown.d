4711
{
	trace(1);
}
/* expect-error 1: D_PDESC_INVAL invalid probe identifier 4711: Unknown probe identifier */
