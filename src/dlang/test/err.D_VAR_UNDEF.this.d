BEGIN
{
	trace(this->x);
}
/* expect-error 3: D_VAR_UNDEF this->x has not yet been declared or assigned */
