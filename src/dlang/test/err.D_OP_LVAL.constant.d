BEGIN
{
	5 = 6;
}
/* expect-error 3: D_OP_LVAL operator = requires modifiable lvalue as an operand */
