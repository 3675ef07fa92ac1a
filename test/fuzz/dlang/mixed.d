#!/usr/sbin/tally -s
#pragma D option quiet
#pragma D option strsize=64
/* comment */
typedef struct foo { int a:3; int b:7; char name[16]; struct foo *next; union { int u1; long u2; }; } foo_t;
int g[5];
string s;
self int depth;
int assoc[int, string];
this foo_t *fp;
foo_t whole;
enum { RED = 3, GREEN };

cpc:::cpu_clock-user-10000000,
cpc:::PAPI_tot_ins-all-$1
/execname == "foo" && pid == $target/
{
	@[ustack(5), execname, func(arg0)] = count();
	@q["x", probename] = quantize(arg1, 3);
	@q[execname, probename] = quantize(arg1);
	self->ts = timestamp;
	g[2] = 5; g[pid % 5] += 3;
	assoc[pid, execname]++;
	x = x0 = 3;
	this->fp = (foo_t *)arg0;
	printf("%d %s %*d %a %A %k\n", pid, stringof(arg0), 5, this->fp->b, arg0, arg1, stack());
	whole = *this->fp;
	trace(this->fp->name); trace(whole.u2); whole.a = RED + GREEN * 2 ^^ 1;
	s = strjoin(execname, "abc");
	this->p = &this->fp->next->u1;
	this->d = this->p - (int *)arg1;
	trace(x ? "yes" : execname);
	ustack(); usym(arg1);
}

tick-1s /self->ts != 0 / 2 > 1/ { printa("%s %s %@d\n", @q); trunc(@q, 5); normalize(@q, 1000); clear(@q); exit(0) }
END { }
BEGIN /1/
