BEGIN
{
	trunc(@a);
}
/* expect-error 3: D_TRUNC_AGGBAD undefined aggregation: @a */
