BEGIN
{
	@a = count();
	printf("%d", @a);
}
/* expect-error 4: D_PRINTF_ARG_TYPE printf( ) argument #2 is incompatible with conversion #1 prototype: conversion: %d */
