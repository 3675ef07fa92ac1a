BEGIN
/* expect-error 1: D_SYNTAX expected predicate and/or actions following probe description */
