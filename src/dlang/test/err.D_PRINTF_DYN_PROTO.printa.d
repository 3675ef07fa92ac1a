BEGIN
{
	@a = count();
	printa("%*@d", @a);
}
/* expect-error 4: D_PRINTF_DYN_PROTO printa( ) prototype mismatch: conversion #1 (%d) is missing a corresponding "*" argument */
