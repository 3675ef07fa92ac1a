BEGIN { trace($2); }
/* expect-error 1: D_IDENT_UNDEF failed to resolve name: Unknown variable name */
/* expect-why $2 is the name name: $$2 is a string of its text */
