1
{
	trace(1);
}
/* expect-type ids 1 */
