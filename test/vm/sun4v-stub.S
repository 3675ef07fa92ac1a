/*
 * sun4v-stub.S - the least hypervisor: what QEMU's niagara machine runs when it is switched on, as its reset.bin.
 *
 * Copies the guest, which is there as openboot.bin, to the beginning of its memory and enters it, privileged, without MMU.
 * CORE_TRAP: cons_putchar prints, mach_exit prints its argument and stands still; no version of any group is there.
 * FAST_TRAP: no function is there.  It knows nothing of the plugin: what that answers never comes here.
 */
#define PROM	0xfff0000000
#define GUEST	0xfff0080000
#define RAM	0x80000000
#define BYTES	0x40000
#define UART	0x1f10000000
#define EINVAL	6
#define EBADTRAP 7

	.register %g2, #scratch
	.register %g3, #scratch
	.section ".text"
	.org	0x20			! power on
	ba	start
	nop

	.org	0x100
start:	setx	PROM + 0x4000, %g1, %g2
	wrhpr	%g2, %htba
	setx	GUEST, %g1, %g2
	setx	RAM, %g1, %g3
	setx	BYTES, %g1, %g4
1:	subcc	%g4, 8, %g4
	ldx	[%g2 + %g4], %g5
	bne,pt	%xcc, 1b
	stx	%g5, [%g3 + %g4]
	wrpr	1, %tl
	wrpr	%g0, 0x400, %tstate	! PSTATE.PRIV
	wrhpr	%g0, %htstate
	wrpr	%g3, %tpc
	add	%g3, 4, %g3
	wrpr	%g3, %tnpc
	wrpr	%g0, 0, %gl
	retry

	! %g1: a byte, %g7: where from
put:	setx	UART, %g2, %g3
2:	ldub	[%g3 + 5], %g2		! line status: is it empty?
	btst	0x20, %g2
	be	2b
	nop
	jmp	%g7 + 8
	stb	%g1, [%g3]

	! %g6: text, which is followed by %g5 as a digit or letter
tell:	ldub	[%g6], %g1
	brz	%g1, 3f
	add	%g6, 1, %g6
	call	put
	mov	%o7, %g7
	ba	tell
	nop
3:	add	%g5, '0', %g1
	call	put
	mov	%o7, %g7
	mov	10, %g1
	call	put
	mov	%o7, %g7
	ba	.
	nop

fast:	mov	EBADTRAP, %o0
	done

core:	cmp	%o5, 1
	be	4f
	cmp	%o5, 2
	be	6f
	cmp	%o5, 3
	bgu	fast
	nop
	mov	EINVAL, %o0
	done
4:	mov	%o0, %g1
	rd	%pc, %g7
	ba	put
	nop
	mov	0, %o0
	done
6:	mov	%o0, %g5
	rd	%pc, %g6
	ba	tell
	add	%g6, ended - (6b + 4), %g6

ended:	.asciz	"== mach_exit "
	.align	4
bad:	rdpr	%tt, %g5
	rd	%pc, %g6
	ba	tell
	add	%g6, trap - (bad + 4), %g6
trap:	.asciz	"== trap "
	.align	4

	.org	0x4000			! the trap table
	.rept	0x180
	ba	bad
	nop
	.skip	24
	.endr
	ba	fast			! 0x180: ta 0x80
	nop
	.skip	24
	.rept	0x7e
	ba	bad
	nop
	.skip	24
	.endr
	ba	core			! 0x1ff: ta 0xff
	nop
	.skip	24
	.section .note.GNU-stack, "", @progbits
