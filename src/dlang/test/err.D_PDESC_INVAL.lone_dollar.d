cpc:::$-x
{
	trace(1);
}
/* expect-error 1: D_PDESC_INVAL invalid probe description: macro variable expected after $ */
