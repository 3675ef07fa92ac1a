BEGIN
{
	printf(execname);
}
/* expect-error 3: D_PRINTF_ARG_FMT printf( ) argument #1 is incompatible with prototype: prototype: string constant */
