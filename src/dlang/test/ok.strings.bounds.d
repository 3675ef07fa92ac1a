BEGIN
{
	@[strjoin(execname, "x")] = count();
	@[basename(execname)] = count();
	@[pid ? "a" : execname] = count();
}
/* expect-type (keys (call strjoin:string24 */
/* expect-type (keys (cast:string24 (call basename:string16 */
/* expect-type (keys (cast:string24 (?::string16 */
