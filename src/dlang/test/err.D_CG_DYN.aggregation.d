BEGIN
{
	@a = count();
	x = @a;
}
/* expect-error 4: D_CG_DYN expression cannot evaluate to result of dynamic type: @a */
