#!/usr/bin/env -S tally trace -s
/*
 * malloc-sizes.d: how much memory a program asks for at a time, in bytes,.
 *
 *	$ tally trace -s malloc-sizes.d -c 'sort /etc/passwd -o /dev/null'
 *	...
 *	  bytes asked for at a time
 *	           value  ------------- Distribution ------------- count
 *	...
 *	              16 |@@@                                      7
 *	...
 *
 * `-p PID` asks a process that runs. Which C library a program has, `ldd` tells: its name stands where libc stands here.
 */
#pragma D option quiet

pid$target:libc:malloc:entry
{
	@size["bytes asked for at a time"] = quantize(arg0);
}
