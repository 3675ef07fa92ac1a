/* with library */
BEGIN
{
	trace(uregs[-1]);
}
/* expect-error 4: D_REGS_IDX index -1 is out of range for array uregs */
