BEGIN
{
	trace("a\tb\"c\\d\x41\101\n");
}
/* expect-type (str "a\x09b\"c\\dAA\x0a":string16) */
