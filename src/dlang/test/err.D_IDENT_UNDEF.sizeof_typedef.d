typedef int point_t;
BEGIN { trace(sizeof(poin_t)); }
/* expect-error 2: D_IDENT_UNDEF failed to resolve poin_t: Unknown variable name; did you mean point_t? */
