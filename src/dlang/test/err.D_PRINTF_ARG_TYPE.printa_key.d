BEGIN
{
	@a[1] = count();
	printa("%s %@d", @a);
}
/* expect-error 4: D_PRINTF_ARG_TYPE printa( ) argument #1 is incompatible with conversion #1 prototype: conversion: %s */
