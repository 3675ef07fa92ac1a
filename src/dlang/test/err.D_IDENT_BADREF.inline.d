inline int twice[int a] = 2 * a;
BEGIN
{
	trace(twice);
}
/* expect-error 4: D_IDENT_BADREF associative array 'twice' may not be referenced as scalar */
