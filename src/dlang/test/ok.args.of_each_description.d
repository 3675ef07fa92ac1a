rec:::one, rec:::other, rec:::two
/args[0] != NULL/
{
	trace(args[0]);
}
rec:::one, rec:::other
{
	@[arg1] = count();
}
/* expect-type (args +0:struct rec*) */
/* expect-type (args +48:struct more*) */
