/* Translated structs as a whole: assigned, kept, keys, printed; text in arrays of char, bit-fields, members without a conversion. */
struct in { int n; char c; string s; };
struct pair { short a, b; };
struct out { int m; char text[6]; string s; int bits : 3; int left_out; char c[4]; struct pair both; };
struct small { int n; } *from;
struct in in;
struct out o;
int called;
translator struct pair < int N > { a = N; b = N - 1; };
translator struct out < struct in T > {
	m = T.n * 2;
	text = "abcdefghijk";
	s = strjoin(T.s, "!");
	bits = T.n;
	c = T.n > 4 ? "xy" : "z";
	both = xlate < struct pair > (T.n);
};
translator struct out < struct small *P > { m = P->n; c = "q"; };
inline struct out seen = xlate < struct out > (in);

BEGIN
{
	in.n = 5;
	in.s = "five";
	o = seen;
	in.n = 0;
	printf("%d %s %s %d %d %s\n", o.m, stringof(o.text), o.s, o.bits, o.left_out, stringof(o.c));
	printf("%d %d\n", o.both.a, o.both.b);
	o = seen;
	printf("%d %s %d\n", o.m, stringof(o.c), o.both.b);
}

BEGIN
{
	p = xlate < struct pair > (called++);
	printf("%d %d %d\n", p.a, p.b, called);
	self->p = xlate < struct pair > (70000);
	kept[xlate < struct pair > (3)] = 9;
	printf("%d %d %d\n", self->p.a, self->p.b, kept[xlate < struct pair > (3)]);
	trace(xlate < struct pair > (258));
	print(xlate < struct pair > (-1));
	printf("%d\n", sizeof(xlate < struct out > (in)));
	@[xlate < struct pair > (4)] = count();
}

BEGIN
{
	from = (struct small *)alloca(sizeof(struct small));
	from->n = -3;
	o = *xlate < struct out * > (from);
	printf("%d %s [%s] %d\n", o.m, stringof(o.c), o.s, (*xlate < struct out * > (from)).m);
	exit(0);
}

BEGIN
{
	o = *xlate < struct out * > ((struct small *)8);
	printf("not here\n");
}
