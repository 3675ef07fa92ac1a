#!/usr/bin/env -S tally trace -qs
/*
 * who-signals.d: who sends which signal to whom.
 *
 *	tally trace -s who-signals.d -c COMMAND
 */
#pragma D option quiet

proc:::signal-send
{
	@sent[execname, pid, args[1]->pr_fname, args[1]->pr_pid, args[2]] = count();
}

END
{
	printf("%-16s %8s %-16s %8s %6s %6s\n", "FROM", "PID", "TO", "PID", "SIGNAL", "TIMES");
	printa("%-16s %8d %-16s %8d %6d %@6d\n", @sent);
}
