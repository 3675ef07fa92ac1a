BEGIN
{
	trace(`jiffies);
	trace(&vmlinux`max_pfn);
	p = &`init_task;
	trace(p->real_parent->comm);
	trace(stringof(`banner));
	trace((uintptr_t)`panic);
	trace(*(int *)&`jiffies + 1);
	sym(`panic);
}
