BEGIN
{
	x = *&*(int *)arg0;
	this->q = &*(int *)arg0;
}
/* expect-type (var x:int) (deref:int (cast:int* (builtin arg0:int64_t))) */
/* expect-type (var this->q:int*) (cast:int* (builtin arg0:int64_t)) */
