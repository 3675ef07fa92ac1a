BEGIN
{
	@c = count(); @s = sum(arg0); @a = avg(pid); @i = min(uid); @x = max(-1); @d = stddev(1);
	@q = quantize(arg0, 2); @l = lquantize(pid, -10, 100, 5, 3); @ll = llquantize(arg1, 10, 0, 6, 20);
	@l = lquantize(tid, -10, 100, 5);
}
/* expect-type (weight (int 2:long)) */
/* expect-type (weight (int 3:long)) */
