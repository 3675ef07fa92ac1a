struct s { int a; };
struct s { int b; };
BEGIN { trace(1); }
/* expect-error 2: D_DECL_TYPERED type redeclared: struct s */
