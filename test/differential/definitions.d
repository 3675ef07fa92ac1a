/* Inline definitions and translators: a definition's tree in the places where it is used. */
struct in { int n; string s; } in;
struct out { int twice; string s; char c; };
inline int STEP = 3;
inline int scaled[int x, int y] = x * STEP + y;
inline string side[int x] = x < 0 ? "left" : "right";
translator struct out < struct in T > {
	twice = scaled[T.n, T.n];
	s = strjoin(T.s, side[T.n]);
	c = T.n;
};
inline struct out seen = xlate < struct out > (in);

BEGIN
{
	in.n = -70;
	in.s = "on the ";
	printf("%d %s %d\n", seen.twice, seen.s, seen.c);
	in.n = 300;
	printf("%d %s %d\n", seen.twice, seen.s, seen.c);
	@[seen.s] = sum(scaled[in.n, 1]);
	exit(0);
}
