BEGIN
{
	printf("%d", printf("x"));
}
/* expect-error 3: D_PRINTF_ARG_TYPE printf( ) argument #2 is incompatible with conversion #1 prototype: conversion: %d */
