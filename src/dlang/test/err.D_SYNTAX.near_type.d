uint32 count;
BEGIN {}
/* expect-error 1: D_SYNTAX expected predicate and/or actions following probe description; did you mean uint32_t? */
