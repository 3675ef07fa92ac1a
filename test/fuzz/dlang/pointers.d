BEGIN
{
	this->p = (int *)arg0;
	x = *this->p;
	y = this->p[3];
	z = this->p + pid;
	d = &this->p[1] - this->p;
	this->p++;
	n = this->p == NULL;
}
