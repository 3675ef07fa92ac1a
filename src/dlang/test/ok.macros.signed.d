BEGIN
{
	x = $4; y = $5;
}
/* expect-type (var x:int) (int -50:int) */
/* expect-type (var y:int) (int 50:int) */
