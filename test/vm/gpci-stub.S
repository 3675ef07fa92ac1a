/*
 * gpci-stub.S - the least big-endian asker: at 0x100, where a pseries machine begins, with nothing set up.
 * Asks for the capabilities with a block of 48 bytes, prints the code and the record's first eight bytes with
 * H_PUT_TERM_CHAR, as they are, and stands still.
 */
	.machine power9
	.org 0x100
	lis	%r4, 1                  /* the block: 0x10000, zero as all memory */
	li	%r5, 0x40
	stw	%r5, 0(%r4)             /* System_performance_capabilities */
	li	%r5, -1
	stw	%r5, 4(%r4)             /* index */
	li	%r3, 0
	ori	%r3, %r3, 0xf080
	li	%r5, 48
	sc	1
	lis	%r8, 1
	ld	%r7, 32(%r8)
	mr	%r6, %r3
	li	%r3, 0x58
	lis	%r4, 0x7100             /* the first console */
	li	%r5, 16
	sc	1
	b	.
