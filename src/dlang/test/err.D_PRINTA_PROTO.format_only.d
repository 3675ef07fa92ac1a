BEGIN
{
	printa("x");
}
/* expect-error 3: D_PRINTA_PROTO printa( ) prototype mismatch: 1 args passed, 2 expected */
