nosuch:::probe
{
	x = 1;
	@a = count();
}
BEGIN
{
	trace(x);
	printa(@a);
}
/* expect-type clause line 6 */
/* with empty_ok */
