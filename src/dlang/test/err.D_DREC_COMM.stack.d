BEGIN
{
	commit(1);
	stack();
}
/* expect-error 4: D_DREC_COMM data-recording actions may not follow commit( ) */
