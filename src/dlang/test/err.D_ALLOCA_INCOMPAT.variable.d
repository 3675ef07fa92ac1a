int a[2];
BEGIN
{
	p = &a[1];
}
BEGIN
{
	q = (int *)alloca(8);
	q = NULL;
	p = q + 1;
}
/* expect-error 6: D_ALLOCA_INCOMPAT p: cannot reuse the same identifier for both alloca and non-alloca allocations */
