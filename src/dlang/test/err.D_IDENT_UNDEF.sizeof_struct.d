/* with kernel */
BEGIN { trace(sizeof(task_struct)); }
/* expect-error 2: D_IDENT_UNDEF failed to resolve task_struct: Unknown variable name; did you mean struct task_struct? */
