BEGIN
{
	@a = count();
	printa("%@s", @a);
}
/* expect-error 4: D_PRINTF_ARG_TYPE printa( ) argument #2 is incompatible with conversion #1 prototype: conversion: %s */
