BEGIN
{
	self->t[pid, execname] = timestamp;
	x = timestamp - self->t[pid, execname];
	self->t[pid, execname] = 0;
}
/* expect-type (var self->t:uint64_t (builtin pid:pid_t) (builtin execname:string264)) */
