struct s { int a; int b : 3; struct s *next; };
this struct s *p;
this struct s v;
BEGIN
{
	x = stringof(this->v);
}
/* expect-error 6: D_STRINGOF_TYPE cannot apply stringof to a value of type struct s */
