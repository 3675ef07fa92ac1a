#!/usr/bin/env -S tally trace --on power,load=links -s
/*
 * Which links between the chips of a node are busy, and how much does that change?  A distribution of
 * each link's utilisation in percent, over tenths of a second.  A link that is not wired is all ones.
 */
gpci:::links_wxyz-100ms
/args[0]->d_total && args[0]->idle_w != -1/
{
	@util["W", args[0]->hw_chip_id] = lquantize(100 - 100 * args[0]->d_idle_w / args[0]->d_total, 0, 100, 10);
}

gpci:::links_wxyz-100ms
/args[0]->d_total && args[0]->idle_x != -1/
{
	@util["X", args[0]->hw_chip_id] = lquantize(100 - 100 * args[0]->d_idle_x / args[0]->d_total, 0, 100, 10);
}

tick-5s
{
	exit(0);
}
