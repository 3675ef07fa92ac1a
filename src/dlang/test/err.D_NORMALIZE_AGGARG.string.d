BEGIN
{
	normalize("a", 2);
}
/* expect-error 3: D_NORMALIZE_AGGARG normalize( ) argument #1 is incompatible with prototype: prototype: aggregation argument: string */
