BEGIN
{
	x = &(arg0 + 1);
}
/* expect-error 3: D_ADDROF_LVAL unacceptable operand for unary & operator */
