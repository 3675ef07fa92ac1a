struct s { int a; };
BEGIN { trace(offsetof(struct s, NULL)); }
/* expect-error 2: D_UNKNOWN failed to determine offset of NULL: Member name not found */
