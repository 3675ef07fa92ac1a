BEGIN
{
	x = xlate <a_t> (1);
	if (x) { y = 1; }
}
/* expect-error 3: D_UNSUPPORTED translators are not supported yet: xlate < a_t > */
