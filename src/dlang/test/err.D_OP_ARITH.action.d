BEGIN { x = 1 + -trace(0); }
/* expect-error 1: D_OP_ARITH operator - requires an operand of arithmetic type */
