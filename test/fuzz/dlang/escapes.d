BEGIN
{
	trace("a\tb\"c\\d\x41\101\n");
}
