BEGIN
{
	x = offsetof(int, a);
}
/* expect-error 3: D_OFFSETOF_TYPE offsetof operand must be of struct or union type */
