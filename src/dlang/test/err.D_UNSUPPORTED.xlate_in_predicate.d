BEGIN
/xlate <info_t> (arg0).a == 1/
{
}
/* expect-error 2: D_UNSUPPORTED translators are not supported yet: xlate < info_t > */
