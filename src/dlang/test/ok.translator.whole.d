struct in { int n; };
struct out { int m; char text[6]; int un; };
translator struct out < struct in *I > { m = I->n; text = "abc"; };
struct out o;
BEGIN
{
	o = *(xlate < struct out * > ((struct in *)arg0));
	print(xlate < struct out * > ((struct in *)8));
	trace((*xlate < struct out * > ((struct in *)8)).m);
}
/* expect-type (assign =:struct out (var o:struct out) (xlate:struct out (var this->(hidden 2):struct out) (assign =:struct in* (var this->(hidden 1):struct in*) (cast:struct in* (builtin arg0 */
/* expect-type (assign =:char[6] (member +4:char[6] (var this->(hidden 2):struct out)) (str "abc":string8)) */
/* expect-type (action print (args (xlate:struct out (var this-> */
