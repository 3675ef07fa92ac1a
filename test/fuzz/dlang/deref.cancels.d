BEGIN
{
	x = *&*(int *)arg0;
	this->q = &*(int *)arg0;
}
