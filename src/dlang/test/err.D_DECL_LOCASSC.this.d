this int a[int];
BEGIN { trace(1); }
/* expect-error 1: D_DECL_LOCASSC local variables may not be declared as associative arrays: a */
