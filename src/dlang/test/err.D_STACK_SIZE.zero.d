BEGIN
{
	stack(0);
}
/* expect-error 3: D_STACK_SIZE stack( ) size must be a non-zero positive integral constant expression */
