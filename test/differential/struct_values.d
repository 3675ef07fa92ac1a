/* Structs as values and as keys, arrays of structs at computed places, addresses of elements. */
struct point {
	char tag;
	int x, y;
	string name;
	short edge[3];
};
struct point p, q, row[4];
self struct point mine;
this struct point here;
int grid[3][4];
int a[5];
struct { int n[2][3]; string s[2]; } deep[2];

BEGIN
{
	p.tag = 'p';
	p.x = 3;
	p.y = -4;
	p.name = "first";
	p.edge[2] = -7;
	by[1] = p;
	by[1].x = 30;
	by[1].name = "second";
	self->mine = by[1];
	self->mine.edge[1] = 11;
	q = by[1];
	this->here = self->mine;
	printf("%c %d %d %s %d\n", q.tag, q.x, q.y, q.name, q.edge[2]);
	printf("%d %s %d %d\n", self->mine.x, self->mine.name, self->mine.edge[1], this->here.edge[1]);
	by[1].x += 5;
	by[1].x++;
	printf("%d %d\n", by[1].x, by[2].x);
	by[1] = 0;
	printf("%d\n", by[1].y);
}

BEGIN
{
	i = 2;
	row[i] = p;
	row[i].y = 9;
	row[i - 1].name = row[i].name;
	row[i].edge[i - 1] = 5;
	row[0] = row[i];
	printf("%d %d %s %d %d\n", row[i].x, row[2].y, row[1].name, row[0].edge[1], row[i].edge[i]);
	grid[i][i + 1] = 77;
	grid[1][i] = 5;
	printf("%d %d %d\n", grid[2][3], grid[i - 1][2], grid[i][0]);
	deep[i - 1].n[1][i] = 4;
	deep[1].s[i - 1] = "deep";
	printf("%d %s %s\n", deep[1].n[i - 1][2], deep[i - 1].s[1], deep[0].s[i - 2]);
}

BEGIN
{
	count[p] = 5;
	count[row[0]] = 6;
	printf("%d %d %d\n", count[p], count[row[i]], count[q]);
	@[p] = count();
	a[0] = 10; a[1] = 20; a[4] = 50;
	w = &a[0];
	v = a;
	printf("%d %d %d %d %d\n", *w, *(w + 1), w[4], *v, &a[3] - w);
	y = &p.x;
	printf("%d %d\n", *y, y[1]);
	printf("%d\n", (&row[i])->y);
}

BEGIN
{
	i = 3;
	printf("%d\n", grid[i][0]);
}
BEGIN
{
	printf("%d\n", a[i + 2]);
}
BEGIN
{
	exit(0);
}
