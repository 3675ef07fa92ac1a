BEGIN
{
	x = 1 + 2 * 3 == 7 && 4 | 1 ^ 2 & 3;
	y = pid + tid * 2 << 1;
	z = pid && uid ^^ gid || cpu;
}
