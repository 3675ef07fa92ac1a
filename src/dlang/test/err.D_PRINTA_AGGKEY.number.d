BEGIN
{
	@a = count();
	@b[1] = count();
	printa(@a, @b);
}
/* expect-error 5: D_PRINTA_AGGKEY printa( ): @a and @b do not have matching key signatures: @a has 0 keys, @b has 1 key */
