BEGIN
{
	clear();
}
/* expect-error 3: D_CLEAR_PROTO clear( ) prototype mismatch: 0 args passed, 1 expected */
