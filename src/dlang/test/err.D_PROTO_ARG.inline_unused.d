/* ASSERT: an argument that the definition doesn't use is looked at, too. */
inline int one[int a, string b] = 1;
BEGIN
{
	trace(one[1, 2]);
}
/* expect-error 5: D_PROTO_ARG one[ ] key #2 is incompatible with prototype: prototype: string key: int */
