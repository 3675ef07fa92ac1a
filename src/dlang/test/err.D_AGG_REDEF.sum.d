BEGIN
{
	@a = count();
	@a = sum(1);
}
/* expect-error 4: D_AGG_REDEF aggregation redefined: @a current: @a = sum( ) previous: @a = count( ) : line 3 */
