/*
 * psinfo.d: the process and the thread that fire, as proc(4) of Solaris has them.
 *
 * pr_fname and procname are the name of the process: that of its first thread. execname is the name of the thread that fires, which
 * programs set to tell their threads apart. pr_nspid, which Solaris has not, is the process id inside its own namespace.
 *
 * doc/translators.md says what each member is made of, and in what unit.  A member that nothing of Linux gives has no conversion, and
 * a string __without_MEMBER with the reason.
 */
#pragma D depends_on library this-machine.d

typedef int taskid_t;
typedef int projid_t;
typedef int poolid_t;
typedef struct timestruc {
	long tv_sec;
	long tv_nsec;
} timestruc_t;

translator timestruc_t < uint64_t N > {
	tv_sec = N / 1000000000;
	tv_nsec = N % 1000000000;
};

typedef struct lwpsinfo {
	int pr_flag;
	id_t pr_lwpid;
	uintptr_t pr_addr;
	uintptr_t pr_wchan;
	char pr_stype;
	char pr_state;
	char pr_sname;
	char pr_nice;
	short pr_syscall;
	unsigned char pr_oldpri;
	char pr_cpu;
	int pr_pri;
	ushort_t pr_pctcpu;
	timestruc_t pr_start;
	timestruc_t pr_time;
	char pr_clname[8];
	char pr_name[16];
	processorid_t pr_onpro;
	processorid_t pr_bindpro;
	psetid_t pr_bindpset;
	int pr_lgrp;
} lwpsinfo_t;

typedef struct psinfo {
	int pr_flag;
	int pr_nlwp;
	pid_t pr_pid;
	pid_t pr_ppid;
	pid_t pr_pgid;
	pid_t pr_sid;
	uid_t pr_uid;
	uid_t pr_euid;
	gid_t pr_gid;
	gid_t pr_egid;
	uintptr_t pr_addr;
	size_t pr_size;
	size_t pr_rssize;
	dev_t pr_ttydev;
	ushort_t pr_pctcpu;
	ushort_t pr_pctmem;
	timestruc_t pr_start;
	timestruc_t pr_time;
	timestruc_t pr_ctime;
	char pr_fname[16];
	char pr_psargs[80];
	int pr_wstat;
	int pr_argc;
	uintptr_t pr_argv;
	uintptr_t pr_envp;
	char pr_dmodel;
	taskid_t pr_taskid;
	projid_t pr_projid;
	int pr_nzomb;
	poolid_t pr_poolid;
	zoneid_t pr_zoneid;
	int pr_contract;
	lwpsinfo_t pr_lwp;
	pid_t pr_nspid;
} psinfo_t;

inline char PR_MODEL_ILP32 = 1;
inline char PR_MODEL_LP64 = 2;
inline processorid_t PBIND_NONE = -1;
inline psetid_t PS_NONE = -1;

/*
 * What lies in the memory of a process can be read if it is the memory of the thread that fires; or of its child that is not
 * another program yet, whose memory is a copy. Else the address is 0, and reading there is a fault.
 */
inline int __PF_FORKNOEXEC = 0x40;
inline int __memory_is_here[struct task_struct *T] = T == curthread || T->mm == curthread->mm ||
    (T->flags & __PF_FORKNOEXEC && T->real_parent->mm == curthread->mm && T->parent_exec_id == curthread->self_exec_id);
inline uintptr_t __if_here[struct task_struct *T, uintptr_t A] = __memory_is_here[T] ? A : 0;

/* A program of 32 bits can't have addresses above 4 GiB. */
inline int __is_ilp32[struct task_struct *T] = T->mm != NULL && T->mm->task_size <= 0x100000000;

/* Where a program begins its stack has its number of arguments, a pointer to each, NULL, and a pointer to each variable. */
inline int __argc[struct task_struct *T] = *(userland int *)__if_here[T, T->mm->start_stack];
inline uintptr_t __word[struct task_struct *T] = __is_ilp32[T] ? 4 : 8;

/* The pages of a process that are in memory: a counter of each kind is a number, or since Linux 6.2 begins behind a lock. */
inline int __rss_stride = sizeof(((struct mm_struct *)NULL)->rss_stat) / NR_MM_COUNTERS;
inline int __rss_offset = __rss_stride > 8 ? offsetof(struct percpu_counter, count) : 0;
inline int64_t __rss_of[struct mm_struct *M, int kind] =
    *(int64_t *)((uintptr_t)&M->rss_stat + kind * __rss_stride + __rss_offset);
inline int64_t __rss_pages[struct mm_struct *M] =
    (__rss_of[M, MM_FILEPAGES] > 0 ? __rss_of[M, MM_FILEPAGES] : 0) +
    (__rss_of[M, MM_ANONPAGES] > 0 ? __rss_of[M, MM_ANONPAGES] : 0) +
    (__rss_of[M, MM_SHMEMPAGES] > 0 ? __rss_of[M, MM_SHMEMPAGES] : 0);

inline int __SIGNAL_GROUP_EXIT = 4;

translator psinfo_t < struct task_struct *T > {
	pr_nlwp = T->signal->nr_threads;
	pr_pid = T->tgid;
	pr_nspid = T->signal->pids[1]->numbers[T->signal->pids[1]->level].nr;
	pr_ppid = T->real_parent->tgid;
	pr_pgid = T->signal->pids[2]->numbers[0].nr;
	pr_sid = T->signal->pids[3]->numbers[0].nr;
	pr_uid = T->cred->uid.val;
	pr_euid = T->cred->euid.val;
	pr_gid = T->cred->gid.val;
	pr_egid = T->cred->egid.val;
	pr_addr = (uintptr_t)T;
	pr_size = T->mm != NULL ? T->mm->total_vm * (__page_bytes / 1024) : 0;
	pr_rssize = T->mm != NULL ? __rss_pages[T->mm] * (__page_bytes / 1024) : 0;
	pr_pctmem = T->mm != NULL ? __rss_pages[T->mm] * 0x8000 / __memory_pages : 0;
	pr_ttydev = T->signal->tty == NULL ? (dev_t)-1 :
	    T->signal->tty->driver->major << 20 | (T->signal->tty->driver->minor_start + T->signal->tty->index);
	pr_start = xlate < timestruc_t > ((uint64_t)(T->group_leader->start_boottime + __boot_ns));
	pr_ctime = xlate < timestruc_t > ((uint64_t)(T->signal->cutime + T->signal->cstime));
	pr_fname = T->group_leader->comm;
	pr_psargs = T->mm != NULL && __memory_is_here[T] ? __arguments(T->mm->arg_start, T->mm->arg_end - T->mm->arg_start) :
	    stringof(T->group_leader->comm);
	pr_wstat = T->signal->flags & __SIGNAL_GROUP_EXIT ? T->signal->group_exit_code : T->group_leader->exit_code;
	pr_argc = T->mm != NULL ? __argc[T] : 0;
	pr_argv = T->mm != NULL ? T->mm->start_stack + __word[T] : 0;
	pr_envp = T->mm != NULL ? T->mm->start_stack + __word[T] * (__argc[T] + 2) : 0;
	pr_dmodel = __is_ilp32[T] ? PR_MODEL_ILP32 : PR_MODEL_LP64;
	pr_taskid = T->sessionid;
	pr_projid = T->cgroups->dfl_cgrp->kn->id;
	pr_zoneid = T->cgroups->dfl_cgrp->kn->id;
	pr_nzomb = T->group_leader->exit_state != 0;
	pr_contract = -1;
};

inline string __without_pr_poolid = "Linux has no resource pools";
inline string __without_pr_lwp = "it would be a thread that stands for the process, and Linux chooses none; curlwpsinfo is the one that fires";

inline string procname = stringof(curthread->group_leader->comm);
inline psinfo_t *curpsinfo = xlate < psinfo_t * > (curthread);

inline int PR_STOPPED = 0x00000001;
inline int PR_ISTOP = 0x00000002;
inline int PR_DSTOP = 0x00000004;
inline int PR_STEP = 0x00000008;
inline int PR_ASLEEP = 0x00000010;
inline int PR_PCINVAL = 0x00000020;
inline int PR_ASLWP = 0x00000040;
inline int PR_AGENT = 0x00000080;
inline int PR_DETACH = 0x00000100;
inline int PR_DAEMON = 0x00000200;
inline int PR_IDLE = 0x10000000;
inline int PR_ISSYS = 0x00001000;
inline int PR_VFORKP = 0x00002000;
inline int PR_ORPHAN = 0x00004000;
inline int PR_NOSIGCHLD = 0x00008000;
inline int PR_WAITPID = 0x00010000;
inline int PR_FORK = 0x00100000;
inline int PR_RLC = 0x00200000;
inline int PR_KLC = 0x00400000;
inline int PR_ASYNC = 0x00800000;
inline int PR_MSACCT = 0x01000000;
inline int PR_BPTADJ = 0x02000000;
inline int PR_PTRACE = 0x04000000;
inline int PR_MSFORK = 0x08000000;

inline char SSLEEP = 1;
inline char SRUN = 2;
inline char SZOMB = 3;
inline char SSTOP = 4;
inline char SIDL = 5;
inline char SONPROC = 6;
inline char SWAIT = 7;

inline char SOBJ_NONE = 0;
inline char SOBJ_MUTEX = 1;
inline char SOBJ_RWLOCK = 2;
inline char SOBJ_CV = 3;
inline char SOBJ_SEMA = 4;
inline char SOBJ_USER = 5;
inline char SOBJ_USER_PI = 6;
inline char SOBJ_SHUTTLE = 7;

/* Bits of __state, exit_state and flags; what is locked or frozen waits as those that no signal wakes. */
inline int __TASK_INTERRUPTIBLE = 0x1;
inline int __TASK_UNINTERRUPTIBLE = 0x9002;
inline int __TASK_STOPPED = 0x4;
inline int __TASK_TRACED = 0x8;
inline int __TASK_PARKED = 0x40;
inline int __TASK_WAKING = 0x200;
inline int __TASK_IDLE = 0x402;
inline int __TASK_NEW = 0x800;
inline int __EXIT_ZOMBIE = 0x20;
inline int __PF_KTHREAD = 0x200000;

translator lwpsinfo_t < struct task_struct *T > {
	pr_flag = (T->__state & (__TASK_STOPPED | __TASK_TRACED) ? PR_STOPPED : 0) |
	    (T->__state & __TASK_TRACED ? PR_ISTOP : 0) |
	    (T->__state & __TASK_INTERRUPTIBLE ? PR_ASLEEP : 0) |
	    (T->flags & __PF_KTHREAD ? PR_ISSYS : 0) |
	    (T->pid == 0 ? PR_IDLE : 0) |
	    (T->group_leader->exit_signal != SIGCHLD ? PR_NOSIGCHLD : 0) |
	    (T->ptrace != 0 ? PR_PTRACE : 0);
	pr_lwpid = T->pid;
	pr_addr = (uintptr_t)T;
	pr_state = T->exit_state != 0 ? SZOMB : T->__state & (__TASK_STOPPED | __TASK_TRACED) ? SSTOP :
	    T->__state == 0 || T->__state & __TASK_WAKING ? SRUN : T->__state & __TASK_NEW ? SIDL : SSLEEP;
	pr_sname = T->exit_state & __EXIT_ZOMBIE ? 'Z' : T->exit_state != 0 ? 'X' :
	    (T->__state & __TASK_IDLE) == __TASK_IDLE ? 'I' : T->__state & __TASK_PARKED ? 'P' :
	    T->__state & __TASK_TRACED ? 't' : T->__state & __TASK_STOPPED ? 'T' :
	    T->__state & __TASK_UNINTERRUPTIBLE ? 'D' : T->__state & __TASK_INTERRUPTIBLE ? 'S' : 'R';
	pr_syscall = T->flags & __PF_KTHREAD ? -1 : T == curthread ? __syscall_of[(struct pt_regs *)__user_registers] : *(short *)NULL;
	pr_oldpri = T->prio;
	pr_pri = T->prio;
	pr_start = xlate < timestruc_t > ((uint64_t)(T->start_boottime + __boot_ns));
	pr_time = xlate < timestruc_t > (T->se.sum_exec_runtime);
	pr_clname = T->policy == 0 ? "TS" : T->policy == 1 ? "FF" : T->policy == 2 ? "RR" : T->policy == 3 ? "B" :
	    T->policy == 5 ? "IDL" : T->policy == 6 ? "DLN" : T->policy == 7 ? "EXT" : "?";
	pr_name = T->comm;
	pr_onpro = T->thread_info.cpu;
	pr_bindpro = T->nr_cpus_allowed == 1 ? T->thread_info.cpu : PBIND_NONE;
	pr_bindpset = PS_NONE;
};

/* pr_nice and pr_cpu are published without a conversion, and without words behind the message. */
inline string __without_pr_flag = "proc(4) says not to use it; curlwpsinfo->pr_flag is that of the thread";
inline string __without_pr_time =
    "Linux adds the times of all threads up when it is asked, and a program can't; curlwpsinfo->pr_time is the thread's";
inline string __without_pr_pctcpu = "Linux keeps no share of the recent time; pr_time of two firings has it";
inline string __without_pr_wchan = "Linux does not keep what a thread waits for";
inline string __without_pr_stype = "Linux does not keep what a thread waits for";
inline string __without_pr_lgrp = "a thread of Linux has no home node; curcpu->cpu_lgrp is where it runs";

inline lwpsinfo_t *curlwpsinfo = xlate < lwpsinfo_t * > (curthread);
