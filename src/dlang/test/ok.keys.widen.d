BEGIN
{
	@a[pid] = count();
	@a[timestamp] = count();
	@b["x"] = count();
	@b[probename] = count();
}
/* expect-type (keys (cast:uint64_t (builtin pid:pid_t))) */
/* expect-type (str "x":string128) */
