BEGIN
{
	@a[1] = count();
	@a[1, 2] = count();
}
/* expect-error 4: D_PROTO_LEN @a[ ] prototype mismatch: 2 args passed, 1 expected */
