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
