BEGIN, dtrace:::BEGIN
{
	trace(1);
}
/* expect-type   ids 1 */
