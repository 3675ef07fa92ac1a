struct a { int m; } x;
struct b { int m; } y;
inline int m[struct a v] = v.m;
BEGIN
{
	trace(m[x]);
	trace(m[y]);
}
/* expect-error 7: D_PROTO_ARG m[ ] key #1 is incompatible with prototype: prototype: struct a key: struct b */
