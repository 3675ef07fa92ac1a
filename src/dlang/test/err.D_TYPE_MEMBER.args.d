rec:::one
{
	trace(args[0]->sise);
}
/* expect-error 3: D_TYPE_MEMBER sise is not a member of struct rec */
