this int a[int];
BEGIN { trace(1); }
/* expect-error 1: D_DECL_LOCASSC associative arrays may not be declared as local variables: a */
