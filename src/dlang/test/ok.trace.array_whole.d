/* trace() of an array hands over its elements, not where they lie. */
int a[4];
struct { short s[3]; } in;
BEGIN
{
	trace(a);
	trace(in.s);
}
/* expect-type 6: (action trace (args (var a:int[4]))) */
/* expect-type 7: (action trace (args (member +0:short[3] (var in:struct (anonymous))))) */
