BEGIN
{
	y = 1;
	x = &y;
}
/* expect-error 4: D_ADDROF_VAR cannot take address of dynamic variable */
