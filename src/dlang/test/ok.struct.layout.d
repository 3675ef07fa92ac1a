struct s { char a; int b : 3; int c : 7; short d; struct { char e; long f; }; union { int g; char h[3]; }; } ;
BEGIN
{
	trace(offsetof(struct s, d));
	trace(offsetof(struct s, f));
	trace(sizeof(struct s));
	trace(((struct s *)arg0)->c);
	trace(((struct s *)arg0)->h);
}
/* expect-type (args (int 4:size_t)) */
/* expect-type (args (int 16:size_t)) */
/* expect-type (args (int 32:size_t)) */
/* expect-type (member +2 bits 0..6:int */
