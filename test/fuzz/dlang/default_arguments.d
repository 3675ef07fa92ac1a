BEGIN
{
	x = $8; y = $$8;
}
