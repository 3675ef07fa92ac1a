/*
 * cpuinfo.d: the CPU on which a probe fires.
 *
 * How the CPUs of this machine lie in chips and nodes is no part of the kernel's structs.  Its translators are made when a script
 * needs them, of what sysfs and /proc/cpuinfo say: this-machine.d is no file.
 */
typedef int chipid_t;
typedef int lgrp_id_t;
typedef struct processor_info {
	int pi_state;
	char pi_processor_type[16];
	char pi_fputype[32];
	int pi_clock;
} processor_info_t;
typedef struct cpuinfo {
	processorid_t cpu_id;
	psetid_t cpu_pset;
	chipid_t cpu_chip;
	lgrp_id_t cpu_lgrp;
	processor_info_t cpu_info;
} cpuinfo_t;
typedef cpuinfo_t *cpuinfo_t_p;

inline int P_OFFLINE = 1;
inline int P_ONLINE = 2;
inline int P_STATUS = 3;
inline int P_FAULTED = 4;
inline int P_POWEROFF = 5;
inline int P_NOINTR = 6;
inline int P_SPARE = 7;

#pragma D depends_on library this-machine.d

inline cpuinfo_t *curcpu = xlate < cpuinfo_t * > (cpu);
inline psetid_t pset = curcpu->cpu_pset;
inline chipid_t chip = curcpu->cpu_chip;
inline lgrp_id_t lgrp = curcpu->cpu_lgrp;

inline string __without_pi_fputype = "Linux has no name of it";
