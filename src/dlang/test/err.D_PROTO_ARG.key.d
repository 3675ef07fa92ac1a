BEGIN
{
	@a["x"] = count();
	@a[1] = count();
}
/* expect-error 4: D_PROTO_ARG @a[ ] key #1 is incompatible with prototype: prototype: string key: int */
