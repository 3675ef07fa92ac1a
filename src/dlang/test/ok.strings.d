BEGIN
{
	s = "abc";
	t = strjoin(s, execname);
	x = substr(t, 1, 2);
	y = strlen(x);
	z = index(s, "b", 1);
	b = basename("/a/b"); d = dirname(s);
	c = s < "x";
}
/* expect-type (var s:string264) (str "abc":string264) */
/* expect-type (call strjoin:string264 */
/* expect-type (call strlen:size_t */
/* expect-type (bin <:int (var s:string264) (str "x":string8)) */
