BEGIN
{
	speculate(1);
	@x[pid] = sum(1);
}
/* expect-error 4: D_AGG_SPEC aggregating actions may not follow speculate( ) */
