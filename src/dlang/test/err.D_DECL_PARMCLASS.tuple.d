int a[string, static int k];
/* expect-error 1: D_DECL_PARMCLASS inappropriate storage class for function or associative array parameter */
