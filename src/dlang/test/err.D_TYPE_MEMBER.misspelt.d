struct point { int across; int down; };
struct point p;

BEGIN
{
	trace(p.acorss);
}
/* expect-error 6: D_TYPE_MEMBER acorss is not a member of struct point; did you mean across? */
