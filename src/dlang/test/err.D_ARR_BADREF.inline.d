/* ASSERT: a name that an inline has is no new associative array. */
inline int one = 1;
BEGIN
{
	one[2] = 3;
}
/* expect-error 5: D_ARR_BADREF cannot access one as an associative array */
