struct s { int a; int b : 3; struct s *next; };
this struct s *p;
this struct s v;
BEGIN
{
	trace((int)this->v);
}
/* expect-error 6: D_CAST_INVAL invalid cast expression: "struct s" to "int" */
