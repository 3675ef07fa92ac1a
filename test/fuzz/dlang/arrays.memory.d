struct s { int n[4]; char name[8]; long m[2][3]; };
this struct s *p;
int two[2][3];
BEGIN
{
	x = this->p->n[pid];
	y = this->p->n[2];
	z = *this->p->n;
	q = this->p->n + 1;
	w = this->p->m[1][pid];
	two[1][2] = 5;
	v = two[1][2];
	printf("%s", this->p->name);
	l = 1 + this->p->n;
	@[this->p->name] = count();
	same = this->p == this->p;
	b = (_Bool)pid;
}
