inline int twice[int a] = 2 * a;
BEGIN
{
	trace(twice["one"]);
}
/* expect-error 4: D_PROTO_ARG twice[ ] key #1 is incompatible with prototype: prototype: int key: string */
