BEGIN
{
	printf("%*d", "a", 1);
}
/* expect-error 3: D_PRINTF_DYN_TYPE printf( ) argument #2 is incompatible with conversion #1 prototype: conversion: % * d prototype: int */
