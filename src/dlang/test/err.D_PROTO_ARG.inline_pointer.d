/* ASSERT: what a cast would take is no argument. */
inline int total[int a, int b] = a + b;
BEGIN
{
	trace(total[1, (char *)2]);
}
/* expect-error 5: D_PROTO_ARG total[ ] key #2 is incompatible with prototype: prototype: int key: char * */
