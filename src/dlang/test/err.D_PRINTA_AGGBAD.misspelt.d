BEGIN
{
	@total = count();
	printa(@toatl);
}
/* expect-error 4: D_PRINTA_AGGBAD undefined aggregation: @toatl; did you mean @total? */
