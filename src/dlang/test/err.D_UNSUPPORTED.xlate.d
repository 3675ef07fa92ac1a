BEGIN
{
	trace(xlate <info_t *>(arg0));
}
/* expect-error 3: D_UNSUPPORTED translators are not supported yet: xlate */
