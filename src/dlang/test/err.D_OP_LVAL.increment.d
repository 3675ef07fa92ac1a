BEGIN
{
	5++;
}
/* expect-error 3: D_OP_LVAL operator ++ requires modifiable lvalue as an operand */
