int a[2];
BEGIN { bcopy("abc", &a[1], 3); }
/* expect-error 2: D_PROTO_ARG bcopy( ) argument #2 is incompatible with prototype: */
