this self int x;
BEGIN { trace(1); }
/* expect-error 1: D_DECL_CLASS only one storage class allowed in a declaration */
