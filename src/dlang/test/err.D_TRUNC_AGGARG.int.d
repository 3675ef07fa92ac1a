BEGIN
{
	trunc(5);
}
/* expect-error 3: D_TRUNC_AGGARG trunc( ) argument #1 is incompatible with prototype: prototype: aggregation argument: int */
