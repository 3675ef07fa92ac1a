struct s { int a; };
int a[struct s];
BEGIN { trace(1); }
/* expect-error 2: D_KEY_TYPE struct s may not be used as the key of an associative array */
