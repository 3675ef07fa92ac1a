BEGIN
{
	self->s = execname;
	x = self->s != NULL;
	self->s = 0;
	self->s = NULL;
}
