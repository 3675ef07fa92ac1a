/* NULL is the 0 of an integer, too. */
BEGIN
{
	self->buf = arg1;
	x = self->buf != NULL;
	self->buf = NULL;
}
/* expect-type 6: (assign =:int64_t (var self->buf:int64_t) (int 0:int64_t)) */
