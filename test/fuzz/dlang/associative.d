int seen[int, string];
self long deep[string];
BEGIN
{
	seen[pid, execname]++;
	self->deep["x"] = 1;
	start[tid] = timestamp;
	x = start[tid] - start[1];
}
