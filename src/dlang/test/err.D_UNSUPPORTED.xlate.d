BEGIN
{
	trace(xlate <info_t *> (arg0)->pr_pid);
}
/* expect-error 3: D_UNSUPPORTED translators are not supported yet: xlate < info_t * > */
