BEGIN
{
	self->s = execname;
	x = self->s != NULL;
	self->s = 0;
	self->s = NULL;
}
/* expect-type (bin !=:int (var self->s:string264) (int 0:string8)) */
/* expect-type (assign =:string264 (var self->s:string264) (int 0:string264)) */
