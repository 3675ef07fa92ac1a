struct a { int x; } a;
struct b { int x; } b;
BEGIN { t[a] = 1; t[b] = 2; }
/* expect-error 3: D_PROTO_ARG t[ ] key #1 is incompatible with prototype: prototype: struct a key: struct b */
