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
/* expect-type (assign =:struct s (var this->v:struct s) (deref:struct s (cast:struct s* */
/* expect-type (assign +=:int (member +0:int (var this->v:struct s)) (int 2:int)) */
