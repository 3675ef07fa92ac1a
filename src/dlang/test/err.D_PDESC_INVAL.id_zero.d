0
{
	trace(1);
}
/* expect-error 1: D_PDESC_INVAL invalid probe identifier 0: Unknown probe identifier */
