int a = 3;
BEGIN { trace(a); }
/* expect-error 1: D_SYNTAX syntax error near "=" (variables start as zero; assign in BEGIN) */
