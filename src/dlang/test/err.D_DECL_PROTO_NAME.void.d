int f(void v);
BEGIN { exit(0); }
/* expect-error 1: D_DECL_PROTO_NAME void parameter may not have a name: v */
