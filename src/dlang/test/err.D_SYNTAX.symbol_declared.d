int vmlinux`x;
/* expect-error 1: D_SYNTAX syntax error near "vmlinux`x" */
