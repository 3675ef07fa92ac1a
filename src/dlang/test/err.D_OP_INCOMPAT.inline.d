inline int i = "i am a string";
/* expect-error 1: D_OP_INCOMPAT inline i definition uses incompatible types: "int" = "string" */
