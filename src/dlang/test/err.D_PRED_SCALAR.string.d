BEGIN
/execname/
{
	trace(1);
}
/* expect-error 2: D_PRED_SCALAR predicate result must be of scalar type */
