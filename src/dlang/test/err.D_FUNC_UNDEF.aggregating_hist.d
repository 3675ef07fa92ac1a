BEGIN
{
	@ = hist(arg0);
}
/* expect-error 3: D_FUNC_UNDEF undefined function name: hist; did you mean quantize()? */
