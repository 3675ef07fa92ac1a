struct s { int a; };
self struct s v;
BEGIN { trace(1); }
/* expect-error 2: D_UNSUPPORTED arrays and structs as values of thread-local */
