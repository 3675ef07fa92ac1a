#!/usr/bin/env -S tally trace -s
/*
 * Who uses the CPUs, and how much of that is the kernel on their behalf?  Milliseconds of CPU time by program, in
 * user mode and in the kernel, for one second.
 */
#pragma D option quiet

cpc:::cpu_clock-user-1000000
{
	@user[procname] = count();
}

cpc:::cpu_clock-kernel-1000000
{
	@kernel[procname] = count();
}

tick-1s
{
	printf("%-16s %8s\n", "USER ms", "");
	printa("%-16s %@8d\n", @user);
	printf("%-16s %8s\n", "KERNEL ms", "");
	printa("%-16s %@8d\n", @kernel);
	trunc(@user);
	trunc(@kernel);
	exit(0);
}
