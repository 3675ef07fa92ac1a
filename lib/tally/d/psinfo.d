/*
 * psinfo.d: the process and the thread that fire, as proc(4) of Solaris has them.
 *
 * pr_fname and procname are the name of the process: that of its first thread. execname is the name of the thread that fires, which
 * programs set to tell their threads apart. pr_nspid, which Solaris has not, is the process id inside its own namespace.
 * pr_psargs is the first word of the arguments: Linux keeps them with a NUL behind each. Those of another process than the one that fires can't
 * be read: it is that process's name then.
 */
typedef struct psinfo {
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
	char pr_fname[16];
	char pr_psargs[80];
	int pr_wstat;
	int pr_argc;
	uintptr_t pr_argv;
	uintptr_t pr_envp;
	char pr_dmodel;
	int pr_taskid;
	int pr_projid;
	int pr_nzomb;
	int pr_poolid;
	int pr_zoneid;
	int pr_contract;
	pid_t pr_nspid;
} psinfo_t;

inline char PR_MODEL_ILP32 = 1;
inline char PR_MODEL_LP64 = 2;

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
	pr_size = T->mm != NULL ? T->mm->total_vm * 4096 : 0;
	pr_fname = T->group_leader->comm;
	pr_psargs = T->mm != NULL && T->mm == curthread->mm ? stringof((userland char *)T->mm->arg_start) :
	    stringof(T->group_leader->comm);
	pr_wstat = T->exit_code;
	pr_argv = T->mm != NULL ? T->mm->arg_start : 0;
	pr_envp = T->mm != NULL ? T->mm->env_start : 0;
	pr_dmodel = PR_MODEL_LP64;
	pr_taskid = 0;
	pr_projid = 0;
	pr_zoneid = 0;
};

inline string procname = stringof(curthread->group_leader->comm);
inline psinfo_t *curpsinfo = xlate < psinfo_t * > (curthread);

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
	char pr_oldpri;
	char pr_cpu;
	int pr_pri;
	ushort_t pr_pctcpu;
	char pr_clname[8];
	char pr_name[16];
	processorid_t pr_onpro;
	processorid_t pr_bindpro;
	psetid_t pr_bindpset;
	int pr_lgrp;
} lwpsinfo_t;

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

inline int PBIND_NONE = -1;

inline char SSLEEP = 1;
inline char SRUN = 2;
inline char SZOMB = 3;
inline char SSTOP = 4;
inline char SIDL = 5;
inline char SONPROC = 6;
inline char SWAIT = 7;

translator lwpsinfo_t < struct task_struct *T > {
	pr_flag = (T->__state & 1 ? PR_ASLEEP : 0) | (T->__state & 4 ? PR_STOPPED : 0) | (T->mm == NULL ? PR_DAEMON : 0);
	pr_lwpid = T->pid;
	pr_addr = (uintptr_t)T;
	pr_wchan = 0;
	pr_state = T->exit_state != 0 ? SZOMB : T->__state == 0 ? SRUN : T->__state & 4 ? SSTOP : SSLEEP;
	pr_sname = T->exit_state != 0 ? 'Z' : T->__state == 0 ? 'R' : T->__state & 4 ? 'T' : T->__state & 2 ? 'D' : 'S';
	pr_pri = T->prio;
	/* SCHED_FIFO ... SCHED_DEADLINE, as ps -o cls prints them */
	pr_clname = T->policy == 0 ? "TS" : T->policy == 1 ? "FF" : T->policy == 2 ? "RR" : T->policy == 3 ? "B" :
	    T->policy == 5 ? "IDL" : T->policy == 6 ? "DLN" : "?";
	pr_name = T->comm;
	pr_onpro = T->thread_info.cpu;
	pr_bindpro = T->nr_cpus_allowed == 1 ? T->thread_info.cpu : PBIND_NONE;
	pr_bindpset = 0;
	pr_lgrp = 0;
};

inline lwpsinfo_t *curlwpsinfo = xlate < lwpsinfo_t * > (curthread);
