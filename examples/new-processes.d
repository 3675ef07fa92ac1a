#!/usr/bin/env -S tally trace -qs
/*
 * new-processes.d: programs that are started, with their first arguments, and how they end.
 *
 *	tally trace -s new-processes.d -c 'sh -c "ls -l /; false"'
 *
 * A line has the process, its parent, and what it runs. Linux keeps the arguments one behind the other, each with a NUL.
 */
#pragma D option quiet

proc:::exec-success
{
	this->end = curthread->mm->arg_end;
	this->at = curthread->mm->arg_start;
	this->first = copyinstr(this->at);
	this->at += strlen(this->first) + 1;
	this->second = this->at < this->end ? copyinstr(this->at) : "";
	this->at += strlen(this->second) + 1;
	this->third = this->at < this->end ? copyinstr(this->at) : "";
	this->at += strlen(this->third) + 1;
	printf("%8d %8d %s %s %s%s\n", pid, ppid, this->first, this->second, this->third,
	    this->at < this->end ? " ..." : "");
}

proc:::exec-failure
{
	@failed[execname, args[0]] = count();
}

proc:::exit
/args[0] != CLD_EXITED/
{
	printf("%8d %8d %s was killed\n", pid, ppid, execname);
}

END
{
	printa("%s failed to start a program, error %d: %@d times\n", @failed);
}
