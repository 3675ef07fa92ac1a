BEGIN
{
	x = 1 + 2 * 3 == 7 && 4 | 1 ^ 2 & 3;
	y = pid + tid * 2 << 1;
	z = pid && uid ^^ gid || cpu;
}
/* expect-type (assign =:int (var x:int) (int 1:int)) */
/* expect-type (bin <<: */
/* expect-type (bin ||:int (bin ^^:int (bin &&:int */
