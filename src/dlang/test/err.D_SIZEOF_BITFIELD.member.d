struct s { int a; int b : 3; struct s *next; };
this struct s *p;
this struct s v;
BEGIN
{
	x = sizeof(this->v.b);
}
/* expect-error 6: D_SIZEOF_BITFIELD cannot apply sizeof to a bit-field */
