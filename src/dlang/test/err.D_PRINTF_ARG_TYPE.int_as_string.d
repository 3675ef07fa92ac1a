BEGIN
{
	printf("%s", 1);
}
/* expect-error 3: D_PRINTF_ARG_TYPE printf( ) argument #2 is incompatible with conversion #1 prototype: conversion: %s prototype: char [] or string (or use stringof) argument: int */
