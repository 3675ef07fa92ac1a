/*
 * sun4v-entry.S - where sun4v-stub.S enters a guest, at its first byte; and calls that C can't make.  Each returns what is in %o0
 * after the call.
 */
	.register %g2, #scratch
	.text
	.global	entry, call_in_delay_slot, call_as_user
entry:	setx	0x81000000 - 256 - 2047, %g1, %sp
	call	start
	nop
	ba	.
	nop

	! MMUSTAT_INFO, or'ed with 0x100 if the branch was lost
call_in_delay_slot:
	mov	0x103, %o5
	ba	1f
	ta	0x80
	or	%o0, 0x100, %o0
1:	retl
	nop

	! MMUSTAT_INFO without the privilege: a trap of the guest's own, which gives 0x99
call_as_user:
	setx	table, %g1, %g2
	wrpr	%g2, %tba
	wrpr	1, %tl
	wrpr	%g0, 0, %tstate
	setx	2f, %g1, %g2
	wrpr	%g2, %tpc
	add	%g2, 4, %g2
	wrpr	%g2, %tnpc
	wrpr	%g0, 0, %gl
	mov	0x103, %o5
	retry
2:	ta	0x80
	ba	.
	nop

	.align	0x8000
table:	.skip	0x2000			! 0x100: a trap instruction
	wrpr	%g0, 0x400, %tstate	! PSTATE.PRIV
	add	%o7, 8, %g1
	wrpr	%g1, %tnpc
	ba	3f
	nop
	.skip	12
3:	mov	0x99, %o0
	done
	.section .note.GNU-stack, "", @progbits
