BEGIN
{
	stack(1, 2);
}
/* expect-error 3: D_STACK_PROTO stack( ) prototype mismatch: too many arguments */
