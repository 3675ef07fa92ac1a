struct s { int a; int b : 3; struct s *next; };
this struct s *p;
this struct s v;
BEGIN
{
	this->q = &((struct s *)arg0)->b;
}
/* expect-error 6: D_ADDROF_BITFIELD cannot take address of bit-field */
