this int row[4];
this struct s { char name[8]; int n[2]; } v;
BEGIN
{
	this->row[pid & 3] = 1;
	this->row[2] += this->row[pid & 3];
	this->v.n[1] = this->row[2];
}
/* expect-type (index:int (var this->row:int[4]) */
/* expect-type (member +8:int (var this->row:int[4])) */
/* expect-type (member +12:int */
