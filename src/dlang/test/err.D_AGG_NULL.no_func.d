BEGIN
{
	@a;
}
/* expect-error 3: D_AGG_NULL expression has null effect: @a */
