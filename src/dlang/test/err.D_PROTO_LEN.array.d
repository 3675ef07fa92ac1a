BEGIN
{
	a[1] = 1;
	a[1, 2] = 1;
}
/* expect-error 4: D_PROTO_LEN a[ ] prototype mismatch: 2 args passed, 1 expected */
