struct s { int a; int b : 3; struct s *next; };
this struct s *p;
this struct s v;
BEGIN
{
	trace(this->v.nosuch);
}
/* expect-error 6: D_TYPE_MEMBER nosuch is not a member of struct s */
