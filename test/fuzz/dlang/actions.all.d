#pragma D option destructive
BEGIN
{
	s = speculation();
	speculate(s);
	printf("%Y %a %A %k %p %5.3s|%-*d", walltimestamp, arg0, arg1, stack(), curthread, execname, 3, pid);
}
BEGIN
{
	commit(s);
	discard(s);
}
BEGIN
{
	if (pid) { trace(1); } else if (tid) printf("x"); else trace("y");
	pid ? trace(1) : printf("%d", 2);
	@[stack(), ustack(3), func(arg0), execname] = llquantize(timestamp, 10, 0, 6, 20);
	@q["a", 1] = lquantize(cpu, 0, 10, 1);
	printa("%s %d %@d %@8x", @q, @q);
	normalize(@q, 2); denormalize(@q); trunc(@q, -1); clear(@q);
	tracemem(curthread, 64, pid);
	print(curthread->cred->uid);
	freopen("/dev/%s", "null"); freopen(""); ftruncate(); system("echo %d", pid); setopt("quiet");
	raise(9); stop(); chill(100);
	exit(0);
}
