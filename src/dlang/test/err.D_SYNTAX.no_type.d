nosuch_t v;
BEGIN { v = 1; }
/* expect-error 1: D_SYNTAX expected predicate and/or actions following probe description; there is no type nosuch_t */
