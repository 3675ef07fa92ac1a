#!/usr/bin/env -S tally trace -s
/*
 * kernel-memory.d: for what the kernel takes memory while a program runs: its caches, by how many objects.
 *
 *	$ tally trace -s kernel-memory.d -c 'sh -c "i=0; while [ \$i -lt 200 ]; do : </etc/passwd; i=\$((i+1)); done"'
 *	CACHE                       OBJECTS        BYTES
 *	...
 *	filp                            215        39560
 *	...
 *
 * With -c it tells of the command and of what that starts, else of everybody, until Ctrl-C.
 */
#pragma D option quiet

rawtp:::kmem_cache_alloc
/!$target || progenyof($target)/
{
	@objects[stringof(args[2]->name)] = count();
	@bytes[stringof(args[2]->name)] = sum(args[2]->object_size);
}

END
{
	printf("%-24s %10s %12s\n", "CACHE", "OBJECTS", "BYTES");
	printa("%-24s %@10d %@12d\n", @objects, @bytes);
}
