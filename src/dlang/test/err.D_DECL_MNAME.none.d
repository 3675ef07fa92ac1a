struct s { int; };
BEGIN { trace(1); }
/* expect-error 1: D_DECL_MNAME member declaration requires a name */
