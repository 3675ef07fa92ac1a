rec:::one
{
	trace(args);
}
/* expect-error 3: D_IDENT_BADREF associative array 'args' may not be referenced as scalar */
