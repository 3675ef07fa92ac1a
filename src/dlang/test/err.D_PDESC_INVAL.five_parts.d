a:b:c:d:e
{
	trace(1);
}
/* expect-error 1: D_PDESC_INVAL invalid probe description "a:b:c:d:e": Overspecified probe description */
