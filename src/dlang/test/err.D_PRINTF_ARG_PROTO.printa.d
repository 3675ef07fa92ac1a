BEGIN
{
	@a[1] = count();
	printa("%d %d %@d", @a);
}
/* expect-error 4: D_PRINTF_ARG_PROTO printa( ) prototype mismatch: conversion #2 (%d) is missing a corresponding value argument */
