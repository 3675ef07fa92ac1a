BEGIN
{
	@a[pid] = count();
	@a[timestamp] = count();
	@b["x"] = count();
	@b[probename] = count();
}
