struct s { int a; int b : 3; struct s *next; };
this struct s *p;
this struct s v;
BEGIN
{
	@[this->v] = count();
}
/* expect-error 6: D_KEY_TYPE @[ ] key #1 may not be of type struct s */
