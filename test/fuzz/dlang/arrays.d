int a[5];
string names[3];
BEGIN
{
	a[1] = 2;
	a[pid] = a[1]++;
	x = a[cpu % 5];
}
