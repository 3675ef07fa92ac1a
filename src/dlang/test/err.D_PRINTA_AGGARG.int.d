BEGIN
{
	printa(1);
}
/* expect-error 3: D_PRINTA_AGGARG printa( ) argument #1 is incompatible with prototype: prototype: aggregation argument: int */
