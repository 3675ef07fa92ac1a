int i;
BEGIN
{
	printf("%f", i);
}
/* expect-error 4: D_PRINTF_ARG_TYPE printf( ) argument #2 is incompatible with conversion #1 prototype: */
