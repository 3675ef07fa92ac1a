BEGIN
{
	stack(0);
}
/* expect-error 3: D_STACK_SIZE stack( ) argument #1 must be a non-zero positive integer constant */
