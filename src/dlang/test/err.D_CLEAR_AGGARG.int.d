BEGIN
{
	clear(1);
}
/* expect-error 3: D_CLEAR_AGGARG clear( ) argument #1 is incompatible with prototype: prototype: aggregation argument: int */
