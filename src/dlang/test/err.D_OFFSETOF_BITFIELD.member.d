struct s { int a; int b : 3; struct s *next; };
this struct s *p;
this struct s v;
BEGIN
{
	x = offsetof(struct s, b);
}
/* expect-error 6: D_OFFSETOF_BITFIELD cannot take offset of a bit-field: b */
