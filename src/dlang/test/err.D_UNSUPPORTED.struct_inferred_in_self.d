struct s { int a; int b : 3; struct s *next; };
this struct s *p;
this struct s v;
BEGIN
{
	self->v = *this->p;
}
/* expect-error 6: D_UNSUPPORTED structs as values of thread-local variables and associative arrays are not supported yet: v */
