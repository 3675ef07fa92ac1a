/* What --dump=type shows of an action begins with its name, whichever it is. */
int a[4];
BEGIN
{
	tracemem(&a[1], 8);
	print(a[1]);
	freopen("/tmp/%d", pid);
	ftruncate();
	system("kill %d", pid);
	setopt("quiet");
	chill(1);
	raise(9);
	stop();
}
BEGIN
{
	speculate(1);
}
BEGIN
{
	commit(1);
}
BEGIN
{
	discard(1);
}
/* expect-type 5: (action tracemem */
/* expect-type 6: (action print */
/* expect-type 7: (action freopen */
/* expect-type 9: (action system */
/* expect-type 10: (action setopt */
/* expect-type 11: (action chill */
/* expect-type 12: (action raise */
/* expect-type 17: (action speculate */
/* expect-type 21: (action commit */
/* expect-type 25: (action discard */
