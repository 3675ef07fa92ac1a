int a[2];
BEGIN
{
	self->p = (int *)copyin(0, 8);
	self->p = &a[1];
}
/* expect-error 2: D_ALLOCA_INCOMPAT p: cannot reuse the same identifier for both alloca and non-alloca allocations */
