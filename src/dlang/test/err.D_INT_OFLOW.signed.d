BEGIN
{
	x = 18446744073709551615;
}
/* expect-error 3: D_INT_OFLOW integer constant 0xffffffffffffffff cannot be represented in any built-in integral type */
