BEGIN
/x == 0/
{
	x = 1;
}
/* expect-type predicate (bin ==:int (var x:int) (int 0:int)) */
