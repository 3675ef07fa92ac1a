BEGIN
{
	system("kill %d");
}
/* expect-error 3: D_PRINTF_ARG_PROTO system( ) prototype mismatch: conversion #1 (%d) is missing a corresponding value argument */
