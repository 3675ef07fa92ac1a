BEGIN
{
	this->p = alloca(8);
}
/* expect-error 3: D_UNSUPPORTED alloca( ) is not supported yet */
