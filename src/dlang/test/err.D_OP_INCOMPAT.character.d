BEGIN /execname == 'sh'/ { trace(1); }
/* expect-error 1: D_OP_INCOMPAT operands have incompatible types: "string" == "int" */
/* expect-why 'sh' is a character constant, which is an integer: a string stands between double quotes */
