int f(static int a);
BEGIN { trace(1); }
/* expect-error 1: D_DECL_PARMCLASS inappropriate storage class for function */
