event
{
	p = alloca(16);
	*(int *)p = htonl(1);
	bcopy("abc", p, 3);
	q = (char *)copyin(arg1, 8);
	q[1] = 'x';
	copyinto(arg1, 8, p);
	trace(inet_ntop(2, p)); trace(inet_ntoa((uint32_t *)p)); trace(inet_ntoa6((struct in6_addr *)p)); trace(link_ntop(1, p));
	trace(strtok("a:b", ":")); trace(strtok(NULL, ":")); trace(cleanpath("/a/../b"));
	trace(copyinstr(arg1, 8)); trace(progenyof($pid)); trace(rand()); trace(lltostr(-1, 16));
	trace(strstr("abc", "b")); trace(substr("abc", 1, 1)); trace(index("abc", "c", 1)); trace(rindex("abc", "c"));
	trace(toupper(dirname(basename("/a/b")))); trace(strjoin("a", "b")); trace(strchr("abc", 'b'));
	trace(mutex_owned((struct mutex *)arg0)); trace(rw_iswriter((rwlock_t *)arg0)); trace(getmajor(arg0));
	copyoutstr("x", arg0, 2); copyout(p, arg0, 2);
	trace(caller); trace(ucaller); trace(stackdepth); trace(ustackdepth); trace(errno); trace(vtimestamp);
}
