BEGIN
{
	trace(1);
	commit(1);
}
/* expect-error 4: D_COMM_DREC commit( ) may not follow data-recording action(s) */
