#!/usr/bin/env -S tally trace -s
/*
 * name-lookups.d: which host names a program looks up, how long that takes, and what fails.
 *
 *	$ tally trace -s name-lookups.d -c 'getent ahosts localhost'
 *	  MICROSECONDS RESULT NAME
 *	...
 *	           412      0 localhost
 *	...
 *
 * `-p PID` asks a process that runs. It sees getaddrinfo(3) of the C library; a program that asks servers itself is not seen.
 */
#pragma D option quiet

BEGIN
{
	printf("%14s %6s %s\n", "MICROSECONDS", "RESULT", "NAME");
}

pid$target:libc:getaddrinfo:entry
{
	self->name = arg0;
	self->since = timestamp;
}

pid$target:libc:getaddrinfo:return
/self->since/
{
	printf("%14d %6d %s\n", (timestamp - self->since) / 1000, (int)arg1,
	    self->name ? copyinstr(self->name) : "(any address)");
	self->since = 0;
}
