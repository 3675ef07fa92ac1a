int a[0];
BEGIN { trace(1); }
/* expect-error 1: D_DECL_ARRSUB positive integral constant expression or tuple signature expected as array declaration subscript */
