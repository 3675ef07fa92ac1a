BEGIN
{
	commit(1);
	@ = count();
}
/* expect-error 4: D_AGG_COMM aggregating actions may not follow commit( ) */
