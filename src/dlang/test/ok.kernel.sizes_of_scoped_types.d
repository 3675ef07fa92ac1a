/* with kernel */
BEGIN
{
	trace(sizeof (vmlinux`struct upid));
	trace(sizeof (`struct cred *));
	trace(sizeof (`kuid_t) + sizeof (vmlinux`kuid_t));
	trace(sizeof (`jiffies));
	trace(offsetof(vmlinux`struct task_struct, cred));
}
/* expect-type 4: (action trace (args (int 16:size_t))) */
/* expect-type 5: (action trace (args (int 8:size_t))) */
/* expect-type 6: (action trace (args (int 8:size_t))) */
/* expect-type 7: (action trace (args (int 8:size_t))) */
/* expect-type 8: (action trace (args (int 32:size_t))) */
