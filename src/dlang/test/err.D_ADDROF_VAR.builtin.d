BEGIN
{
	x = &pid;
}
/* expect-error 3: D_ADDROF_VAR cannot take address of dynamic variable */
