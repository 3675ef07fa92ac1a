/* The predicate gives both of its variables their types, before the actions use them. */
int a[2];
BEGIN
/(new++ == 0) ? p = (int *)alloca(8) : p/
{
	trace(new);
	p = &a[1];
}
/* expect-error 3: D_ALLOCA_INCOMPAT p: cannot reuse the same identifier for both alloca and non-alloca allocations */
