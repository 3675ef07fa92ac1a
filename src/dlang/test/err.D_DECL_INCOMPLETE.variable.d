struct s v;
BEGIN { trace(1); }
/* expect-error 1: D_DECL_INCOMPLETE incomplete struct/union/enum struct s: v */
