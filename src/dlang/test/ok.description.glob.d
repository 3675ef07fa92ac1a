dtrace:::*
{
	trace(1);
}
/* expect-type ids 1 2 3 */
