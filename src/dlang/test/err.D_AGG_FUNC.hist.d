BEGIN
{
	@ = hist(arg0);
}
/* expect-error 3: D_AGG_FUNC @ must be assigned the result of an aggregating function; did you mean quantize()? */
