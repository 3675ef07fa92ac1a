#!/usr/bin/env -S tally trace -s
/*
 * block-sizes.d: how large the requests of block devices are, in bytes, by device and direction.
 *
 *	$ tally trace -s block-sizes.d -c 'dd if=/dev/zero of=out bs=64k count=16 conv=fsync status=none'
 *	...
 *	           value  ------------- Distribution ------------- count
 *	...
 *	         1048576 |@@@@@@@@@@@@@@@@@@@@                     1
 *	...
 *
 * The command gives the time in which it looks; what others read and write is told, too.
 */
#pragma D option quiet

io:::start
/args[0]->b_bcount/
{
	@bytes[args[1]->dev_statname, args[0]->b_flags & B_READ ? "read" : "write"] = quantize(args[0]->b_bcount);
}

END
{
	printf("BYTES OF A REQUEST, BY DEVICE\n");
	printa(@bytes);
}
