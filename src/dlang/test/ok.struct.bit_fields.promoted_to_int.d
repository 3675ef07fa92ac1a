struct b {
	unsigned a : 11;
	unsigned whole : 32;
	long long far : 20;
} s;
BEGIN
{
	trace(s.a - 2048 < 0);
	trace(-s.far);
	trace(s.whole + 1);
	trace((s.a = 5) - 6);
}
/* expect-type (bin -:int (cast:int (member +0 bits 0..10:unsigned int */
/* expect-type (un -:int (cast:int (member */
/* expect-type (bin +:unsigned int (member */
/* expect-type (bin -:int (cast:int (assign */
