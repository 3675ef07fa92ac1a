BEGIN
{
	commit(1);
	speculate(1);
}
/* expect-error 4: D_SPEC_COMM speculate( ) may not follow commit( ) */
