BEGIN
{
	clear(@a);
}
/* expect-error 3: D_CLEAR_AGGBAD undefined aggregation: @a */
