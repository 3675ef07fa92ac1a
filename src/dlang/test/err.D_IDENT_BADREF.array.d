BEGIN
{
	a[1] = 2;
	trace(a);
}
/* expect-error 4: D_IDENT_BADREF associative array 'a' may not be referenced as scalar */
