inline int p = (char *)0;
/* expect-error 1: D_OP_INCOMPAT inline p definition uses incompatible types: "int" = "char *" */
