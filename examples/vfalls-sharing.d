#!/usr/bin/env -S tally trace --on batoka,load=pingpong -s
/*
 * Do threads on different nodes write the same lines?  L2 misses of loads by strand, and the cycles in which
 * each port of each Zambezi hub brought data from another node's cache rather than from its memory.
 */
#pragma D option quiet

vfalls:::L2_dmiss_ld-1ms
/args[0]->delta/
{
	@miss[args[0]->node, args[0]->cpu] = sum(args[0]->delta);
}

vfalls:::cycles_c2c_portX-1ms
/args[0]->delta/
{
	@cache[args[0]->name] = sum(args[0]->delta);
}

vfalls:::cycles_mem_portX-1ms
/args[0]->delta/
{
	@memory[args[0]->name] = sum(args[0]->delta);
}

tick-5ms
{
	printf("L2 misses of loads:\n");
	printa("  node %d strand %-3d %@12d\n", @miss);
	printf("\nCycles with data of another cache:\n");
	printa("  %-16s %@14d\n", @cache);
	printf("\nCycles with data of another node's memory:\n");
	printa("  %-16s %@14d\n", @memory);
	trunc(@miss);
	trunc(@cache);
	trunc(@memory);
	exit(0);
}
