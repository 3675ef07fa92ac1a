BEGIN
/pid / 2 == (8 / 4)/
{
	trace(1);
}
/* expect-type predicate (bin ==:int (bin /:int */
