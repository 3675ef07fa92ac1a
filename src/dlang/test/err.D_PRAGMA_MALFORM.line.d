#line x
BEGIN { trace(1); }
/* expect-error 1: D_PRAGMA_MALFORM malformed #line <line> [ ["file"] state ] */
