BEGIN,
proc42::-:10*
{
}
/* expect-error 2: D_PROC_NAME the name of a probe of function "-" is an address */
