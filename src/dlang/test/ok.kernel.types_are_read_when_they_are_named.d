/* with kernel */
struct mine { struct task_struct *task; };
BEGIN
{
	trace(curthread->real_parent->tgid);
	trace(curthread->in_iowait);
	trace(curthread->half);
	trace(sizeof (struct task_struct));
	trace(offsetof(struct mm_struct, arg_start));
	trace(STATE_DEAD);
	trace(curthread->cred->uid.val);
	trace(sizeof (vmlinux`kuid_t));
	trace(`jiffies);
	trace(&`max_pfn);
	trace((uintptr_t)`panic);
	trace(stringof(curthread->start));
	trace(curthread->signal->pids[2]->numbers[1].nr);
}
/* expect-type 5: (action trace (args (member +4:int (deref:struct task_struct (member +24:struct task_struct* (deref:struct task_struct (builtin curthread:struct task_struct*))))))) */
/* expect-type 6: (action trace (args (member +76 bits 0..0:unsigned int (deref:struct task_struct (builtin curthread:struct task_struct*))))) */
/* expect-type 7: (action trace (args (member +88:unsigned int (deref:struct task_struct (builtin curthread:struct task_struct*))))) */
/* expect-type 8: (action trace (args (int 144:size_t))) */
/* expect-type 9: (action trace (args (int 8:size_t))) */
/* expect-type 10: (action trace (args (int -1:int))) */
/* expect-type 12: (action trace (args (int 4:size_t))) */
/* expect-type 13: (action trace (args (deref:unsigned long (int -2113925120:unsigned long*)))) */
