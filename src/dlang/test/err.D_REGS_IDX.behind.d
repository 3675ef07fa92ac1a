/* with library */
BEGIN
{
	trace(uregs[20 + 6]);
}
/* expect-error 4: D_REGS_IDX index 26 is out of range for array uregs */
