BEGIN
{
	printf("%*d");
}
/* expect-error 3: D_PRINTF_DYN_PROTO printf( ) prototype mismatch: conversion #1 (%d) is missing a corresponding "*" argument */
