inline int foo = foo + 3;
/* expect-error 1: D_IDENT_UNDEF failed to resolve foo: Unknown variable name */
/* expect-why an inline cannot name itself */
