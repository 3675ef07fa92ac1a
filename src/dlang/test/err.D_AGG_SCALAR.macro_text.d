BEGIN { @ = sum($78); }
/* expect-error 1: D_AGG_SCALAR sum( ) argument #1 must be of scalar type */
/* expect-why $78 is "-5abc", which is no whole number: it is a string */
