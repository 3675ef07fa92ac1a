int seen[int, string];
self long deep[string];
BEGIN
{
	seen[pid, execname]++;
	self->deep["x"] = 1;
	start[tid] = timestamp;
	x = start[tid] - start[1];
}
/* expect-type (var seen:int (builtin pid:pid_t) (builtin execname:string264)) */
/* expect-type (var start:uint64_t (builtin tid:id_t)) */
