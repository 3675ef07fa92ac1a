int a[5];
string names[3];
BEGIN
{
	a[1] = 2;
	a[pid] = a[1]++;
	x = a[cpu % 5];
}
/* expect-type (assign =:int (member +4:int (var a:int[5])) (int 2:int)) */
/* expect-type (index:int (var a:int[5]) (cast:long (builtin pid:pid_t))) */
