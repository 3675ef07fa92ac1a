BEGIN
{
	@a[1] = count();
	@b["x"] = count();
	printa(@a, @b);
}
/* expect-error 5: D_PRINTA_AGGPROTO printa( ): @b[ ] key #1 is incompatible with @a */
