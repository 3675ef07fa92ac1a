BEGIN /$78/ { trace(1); }
/* expect-error 1: D_PRED_SCALAR predicate result must be of scalar type */
/* expect-why $78 is "-5abc", which is no whole number: it is a string */
