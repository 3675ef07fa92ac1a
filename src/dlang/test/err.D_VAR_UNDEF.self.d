BEGIN
/self->x/
{
	trace(1);
}
/* expect-error 2: D_VAR_UNDEF self->x has not yet been declared or assigned */
