/* with kernel */
BEGIN { trace((task_struct *)arg0); }
/* expect-error 2: D_SYNTAX syntax error near ")"; did you mean struct task_struct? */
