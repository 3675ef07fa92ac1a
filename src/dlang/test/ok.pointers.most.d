int ****************sixteen;
BEGIN
{
	trace((uintptr_t)sixteen);
}
/* expect-type 4: (action trace */
