#!/usr/bin/env -S tally trace --on power,load=contended -s
/*
 * Which partition waits longest for a processor?  Microseconds that its virtual processors together waited each
 * second, and which part of their dispatches was outside the home node, in percent.
 *
 * The first line asks a model with more demand than cores. Another platform: examples/gpci-wait.d --on unix:PATH
 */
#pragma D option quiet

gpci:::queuing_times-1s
{
	waited += args[0]->d_wait_processor_time;
	@wait[args[0]->partition] = avg(args[0]->d_wait_processor_time / 512);
	this->home = args[0]->d_on_home_core + args[0]->d_on_home_primary + args[0]->d_on_home_secondary;
}

gpci:::queuing_times-1s
/this->home + args[0]->d_off_home/
{
	@away[args[0]->partition] = avg(100 * args[0]->d_off_home / (this->home + args[0]->d_off_home));
}

tick-10s
{
	printf("%9s %12s %8s\n", "PARTITION", "WAITED us/s", "AWAY %");
	printa("%9d %@12d %@8d\n", @wait, @away);
	trunc(@wait);
	trunc(@away);
}

tick-10s
/!waited/
{
	printf("nobody waited: each partition found a free core (of the model's loads, contended makes them wait)\n");
}

tick-10s
{
	exit(0);
}
