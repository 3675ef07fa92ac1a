BEGIN
{
	commit(1);
	commit(2);
}
/* expect-error 4: D_COMM_COMM commit( ) may not follow commit( ) */
