#!/usr/bin/env -S tally trace -s
/*
 * requests.d: how long requests take, and how many page faults each has, by path.
 *
 *	tally trace -s requests.d -c COMMAND
 *
 * COMMAND is a program with the static probes of provider myapp: request-start(int id, string path) and request-done(int id).
 * Where the CPU has a PMU, "cache-misses" may stand in place of "page-faults".
 */
#pragma D option quiet

myapp$target:::request-start
{
	self->path = copyinstr(arg1);
	self->since = timestamp;
	self->faults = vcounter("page-faults");
}

myapp$target:::request-done
/self->since/
{
	@requests[self->path] = count();
	@faults[self->path] = sum(vcounter("page-faults") - self->faults);
	@longest[self->path] = max((timestamp - self->since) / 1000);
	self->since = 0;
}

END
{
	printf("%-24s %10s %10s %12s\n", "PATH", "REQUESTS", "FAULTS", "LONGEST us");
	printa("%-24s %@10d %@10d %@12d\n", @requests, @faults, @longest);
}
