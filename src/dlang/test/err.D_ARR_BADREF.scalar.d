BEGIN
{
	x = 1;
	trace(x[2]);
}
/* expect-error 4: D_ARR_BADREF cannot access x as an associative array */
