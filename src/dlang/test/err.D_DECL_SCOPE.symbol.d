int vmlinux`x;
/* expect-error 1: D_DECL_SCOPE D scoping operator may not be used in a declaration name (vmlinux`x) */
