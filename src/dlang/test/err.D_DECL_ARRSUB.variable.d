int n;
int a[n];
BEGIN { trace(1); }
/* expect-error 2: D_DECL_ARRSUB positive integral constant expression or tuple signature expected */
