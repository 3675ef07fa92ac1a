#!/usr/bin/env -S tally trace -s
/*
 * fault-regions.d: where in its memory a program has its page faults: code and data of its own, heap, stack, or what it mapped.
 *
 *	$ tally trace -s fault-regions.d -c 'pf 500'
 *	faults 500 ns_per_fault 2911.4 total_ns 1455706 minflt 502
 *	PROGRAM          REGION         FAULTS
 *	...
 *	pf               stack               2
 *	...
 *	pf               mapped            543
 *	...
 *
 * With -c it tells of the command and of what that starts, else of everybody, until Ctrl-C. arg2 is the address that was asked
 * for. The heap is what brk(2) made; libraries, large blocks of malloc(3) and stacks of threads are mapped.
 */
#pragma D option quiet
#pragma D option dcpc_min_overflow=1

cpc:::page_faults-user-1
/!$target || progenyof($target)/
{
	this->mm = curthread->mm;
	@faults[procname, arg2 >= this->mm->start_code && arg2 < this->mm->end_code ? "code" :
	    arg2 >= this->mm->start_data && arg2 < this->mm->start_brk ? "data" :
	    arg2 >= this->mm->start_brk && arg2 < this->mm->brk ? "heap" :
	    arg2 >= this->mm->mmap_base ? "stack" : "mapped"] = count();
}

END
{
	printf("%-16s %-12s %8s\n", "PROGRAM", "REGION", "FAULTS");
	printa("%-16s %-12s %@8d\n", @faults);
}
