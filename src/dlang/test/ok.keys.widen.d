BEGIN
{
	@a[pid] = count();
	@a[timestamp] = count();
	@b["x"] = count();
	@b[probename] = count();
	if (pid == 1) {
		@c[ppid] = count();
	} else {
		@c[uid] = count();
	}
	@c[timestamp] = count();
}
/* expect-type (keys (cast:uint64_t (builtin pid:pid_t))) */
/* expect-type (str "x":string128) */
/* expect-type (keys (cast:uint64_t (builtin ppid:pid_t))) */
/* expect-type (keys (cast:uint64_t (builtin uid:uid_t))) */
