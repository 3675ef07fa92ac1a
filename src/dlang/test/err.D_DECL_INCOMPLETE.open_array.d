struct s { int n; struct t a[]; };
BEGIN { trace(1); }
/* expect-error 1: D_DECL_INCOMPLETE incomplete struct/union/enum struct t [0]: a */
