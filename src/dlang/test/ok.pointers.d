BEGIN
{
	this->p = (int *)arg0;
	x = *this->p;
	y = this->p[3];
	z = this->p + pid;
	d = &this->p[1] - this->p;
	this->p++;
	n = this->p == NULL;
}
/* expect-type (deref:int (bin +:int* (var this->p:int*) (int 12:long))) */
/* expect-type (bin *:long (cast:long (builtin pid:pid_t)) (int 4:long)) */
/* expect-type (incdec ++ post:int* (var this->p:int*)) */
