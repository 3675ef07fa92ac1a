struct s { int a; int b : 3; struct s *next; };
this struct s *p;
this struct s v;
BEGIN
{
	this->v = *(struct s *)arg0;
	this->v.a += 2;
	trace(this->v.next->next->a);
	trace(this->v);
}
