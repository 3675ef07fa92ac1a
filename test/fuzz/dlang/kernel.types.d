struct list { struct list *next; struct task_struct *task; };
typedef struct cred cred_t;
this struct task_struct *t;
struct dentry;
BEGIN
{
	this->t = curthread;
	printf("%d %s %d", this->t->pid, this->t->comm, sizeof (struct task_struct));
	trace(offsetof(struct task_struct, mm));
	trace(((cred_t *)curthread->cred)->uid.val);
	trace(curthread->real_parent->real_parent->tgid == 1);
	trace(curthread->in_iowait + curthread->personality);
	trace(curthread->whole & curthread->half);
	trace(curthread->state == STATE_DEAD);
	x = curthread->handler;
	y = (vmlinux`struct file *)0;
	print(curthread->cred);
	print(*curthread->cred);
	trace(stringof(curthread->start));
	c[curthread->pid, execname] = *curthread->cred;
}
