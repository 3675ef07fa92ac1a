/*
 * cpuinfo.d: the CPU on which a probe fires.  Linux has neither processor sets nor locality groups of
 * Solaris: every CPU is in set and group 0.
 */
typedef int chipid_t;
typedef int lgrp_id_t;
typedef struct cpuinfo {
	processorid_t cpu_id;
	psetid_t cpu_pset;
	chipid_t cpu_chip;
	lgrp_id_t cpu_lgrp;
	uintptr_t cpu_info;
} cpuinfo_t;
typedef cpuinfo_t *cpuinfo_t_p;

translator cpuinfo_t < processorid_t C > {
	cpu_id = C;
	cpu_pset = 0;
	cpu_lgrp = 0;
};

inline cpuinfo_t *curcpu = xlate < cpuinfo_t * > (cpu);
