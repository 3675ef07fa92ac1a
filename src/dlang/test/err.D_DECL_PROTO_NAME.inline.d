inline int f[int a, string] = a;
/* expect-error 1: D_DECL_PROTO_NAME parameter declaration requires a name: parameter #2 */
