#pragma D depends_on library psinfo.d
BEGIN
/curpsinfo->pr_pid != $pid && fds[arg0].fi_name != "<none>"/
{
	trace(curpsinfo->pr_psargs);
	trace(zonename);
	trace(fds[1].fi_fs);
	trace(curcpu->cpu_id + curlwpsinfo->pr_lwpid);
	trace(EAGAIN | SIGKILL | O_RDWR | B_READ);
	trace(uregs[R_SP]);
	trace(curpsinfo->pr_start.tv_sec + curcpu->cpu_info.pi_state + chip);
	trace(curlwpsinfo->pr_syscall);
	trace(curpsinfo->pr_poolid);
}
