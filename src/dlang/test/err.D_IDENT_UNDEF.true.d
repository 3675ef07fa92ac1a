BEGIN { b = true; }
/* expect-error 1: D_IDENT_UNDEF failed to resolve true: Unknown variable name; did you mean 1? */
