BEGIN
{
	printa(@a);
}
/* expect-error 3: D_PRINTA_AGGBAD undefined aggregation: @a */
