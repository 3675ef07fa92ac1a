BEGIN
{
	normalize(@a, 2);
}
/* expect-error 3: D_NORMALIZE_AGGBAD undefined aggregation: @a */
