struct a { int m; };
long struct a x;
/* expect-error 2: D_DECL_LONGINT long and short may only be used with integer type, long with double */
