#!/usr/bin/env -S tally trace -qs
/*
 * block-latency.d: how long block devices take, by device and direction.
 *
 *	tally trace -s block-latency.d -c 'dd if=/dev/zero of=file bs=64k count=16 conv=fsync'
 */
#pragma D option quiet

io:::start
{
	begun[arg0] = timestamp;
}

io:::done
/begun[arg0]/
{
	@took[args[1]->dev_statname, args[0]->b_flags & B_READ ? "read" : "write"] =
	    quantize((timestamp - begun[arg0]) / 1000);
	@bytes[args[1]->dev_statname, args[0]->b_flags & B_READ ? "read" : "write"] = sum(args[0]->b_bcount);
	begun[arg0] = 0;
}

END
{
	printf("MICROSECONDS, BY DEVICE\n");
	printa("%s %s%@d\n", @took);
	printa("%s %s: %@d bytes\n", @bytes);
}
