! flat.S: a flat image: says "flat" by CORE_TRAP and ends with the status 7.
	.text
	.global	start
start:
	rd	%pc, %l0
	add	%l0, text - start, %l1
1:	ldub	[%l1], %o0
	brz	%o0, 2f
	mov	1, %o5
	ta	0xff
	ba	1b
	add	%l1, 1, %l1
2:	mov	7, %o0
	mov	2, %o5
	ta	0xff
text:
	.asciz	"flat\n"
