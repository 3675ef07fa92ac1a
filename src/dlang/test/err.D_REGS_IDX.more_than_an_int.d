/* with library */
BEGIN
{
	trace(uregs[0x100000000]);
}
/* expect-error 4: D_REGS_IDX index 4294967296 is out of range for array uregs */
