int a[3];
BEGIN
{
	a = 1;
}
/* expect-error 4: D_OP_ARRFUN operator = may not be applied to operand of type "int [3]" */
