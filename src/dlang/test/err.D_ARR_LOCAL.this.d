BEGIN
{
	this->a[1] = 2;
}
/* expect-error 3: D_ARR_LOCAL local variables may not be used as associative arrays: a */
