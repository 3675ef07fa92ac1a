struct in { int n; };
struct out { int m; };
translator struct out < struct in *I > { m = I->n; };
BEGIN
{
	x = xlate < struct out * > ((struct in *)8);
	y = x == NULL;
	trace(xlate < struct out * > ((struct in *)8)->m);
	trace((xlate < struct out * > ((struct in *)8)));
	trace(x->m);
}
/* expect-error 10: D_UNSUPPORTED a translated pointer leads to no struct once it is kept: keep the struct (x = *pointer) or a member */
