BEGIN
{
	this->start = 1;
	trace(this->strat);
}
/* expect-error 4: D_VAR_UNDEF this->strat has not yet been declared or assigned; did you mean this->start? */
