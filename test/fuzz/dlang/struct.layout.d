struct s { char a; int b : 3; int c : 7; short d; struct { char e; long f; }; union { int g; char h[3]; }; } ;
BEGIN
{
	trace(offsetof(struct s, d));
	trace(offsetof(struct s, f));
	trace(sizeof(struct s));
	trace(((struct s *)arg0)->c);
	trace(((struct s *)arg0)->h);
}
