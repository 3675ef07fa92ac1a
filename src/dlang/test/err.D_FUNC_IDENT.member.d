BEGIN
{
	trace(self->f(1));
}
/* expect-error 3: D_FUNC_IDENT function designator is not of function type */
