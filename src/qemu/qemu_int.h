/*
 * qemu_int.h: what the files of the QEMU plugin share, and as much of QEMU as they need.
 *
 *	words.c            the words behind `-plugin file=tally-qemu.so,`
 *	options.c          which there are
 *	plugin.c           what QEMU calls first: which emulator this is, and its interface's version
 *	reach.c            registers and memory of a guest, and instructions that are waited for
 *	pseries.c          the emulator of qemu-system-ppc64: H_GetPerformanceCounterInfo
 *	service.c          its power machine and service, one call at a time
 *	sun4v.c            the emulator of qemu-system-sparc64: FAST_TRAP and CORE_TRAP
 *	sun4v_service.c    its machine and service, one call at a time
 *	refs.c             the emulator of QEMU's user-mode emulators: a program's memory references
 *
 * QEMU's plugin interface is plain C functions that the emulator exports; what a plugin gets and gives are
 * opaque pointers and glib's arrays, whose first two members are public.  Version 7 of the interface is declared
 * here, and what older versions have of it is the same but for the parameters of some callbacks (plugin.c); QEMU
 * refuses a plugin of a version that it does not have, by name.
 */
#ifndef TALLY_QEMU_INT_H
#define TALLY_QEMU_INT_H

#include <pthread.h>

#include "base/file.h"
#include "machine/model.h"

/* ---- words -------------------------------------------------------------------------------------- */
/* Which of the names the key of "key=value" is, and where its value begins; -TALLY_EINVAL: none of them. */
int word_key(const char *word, const char *const *names, size_t n, const char **value, struct err *e);
int word_wrong(struct err *e, const char *key, const char *value, const char *what); /* -TALLY_EINVAL */

struct qemu_options {
	struct model_opts model;
	uint16_t partition; /* who the guest is */
	uint64_t start;     /* ticks of the machine before the guest */
	bool by_step;       /* time goes on by `step` ticks with each call, not by the clock; of sun4v it always does */
	uint64_t step;
	const char *log;  /* path; borrowed; NULL: none */
	const char *refs; /* of a program: path; borrowed; NULL: the model takes its references */
	uint8_t *config;  /* text of the machine file, or NULL */
};
/* For a pseries guest, a sun4v guest, a program. argv: "key=value" each. -TALLY_EINVAL, -TALLY_EIO, -TALLY_ENOMEM:
 * words name the argument. */
int qemu_options(struct qemu_options *ret, int argc, char *const *argv, struct err *e);
int sun4v_options(struct qemu_options *ret, int argc, char *const *argv, struct err *e);
int refs_options(struct qemu_options *ret, int argc, char *const *argv, struct err *e);
void qemu_options_free(struct qemu_options *o);

/* ---- services ------------------------------------------------------------------------------------ */
struct service;
/* -TALLY_EINVAL: the machine file is wrong, or has no such partition; -TALLY_EIO: no log; -TALLY_ENOMEM. */
int service_open(struct service **ret, const struct qemu_options *o, struct err *e);
void service_close(struct service *s); /* NULL is fine */
/* Time goes on, to `ns` nanoseconds since the start or by a step; then the call of a vCPU. One at a time. */
void service_call(struct service *s, uint64_t ns, uint16_t vcpu, const struct hv_mem *mem, uint64_t r[3]);

struct sun4v_service;
/* mem: `at` is not asked for. -TALLY_EIO: no log; -TALLY_EINVAL, -TALLY_ENOMEM. */
int sun4v_service_open(struct sun4v_service **ret, const struct qemu_options *o, const struct hv_mem *mem,
		       struct err *e);
void sun4v_service_close(struct sun4v_service *s); /* NULL is fine */
/* Whether a call is a function of the groups 0x200 and 0x205, or about their versions: every other is the machine's
 * own. */
bool sun4v_service_has(unsigned trap, const uint64_t o[6]);
/* Time goes on by a step; then the call of a vCPU, with %o0 to %o5. One at a time. False: there is no such strand. */
bool sun4v_service_call(struct sun4v_service *s, unsigned vcpu, unsigned trap, uint64_t o[6]);

/* ---- QEMU, interface version 7 ------------------------------------------------------------------- */
#define QEMU_API 7
typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb; /* a block of instructions being translated */
struct qemu_plugin_insn;
struct qemu_plugin_register;
typedef struct {
	char *data;
	unsigned len;
} GArray;
typedef struct {
	uint8_t *data;
	unsigned len;
} GByteArray;
typedef struct {
	struct qemu_plugin_register *handle;
	const char *name, *feature;
	bool is_readonly;
} qemu_plugin_reg_descriptor;
typedef struct {
	const char *target_name;
	struct {
		int min, cur;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus, max_vcpus;
	} system;
} qemu_info_t;
enum {
	QEMU_NO_REGS = 0,
	QEMU_RW_REGS_PC = 3
};                        /* a callback that touches no registers; that writes them and may set the PC */
enum { QEMU_MEM_RW = 3 }; /* loads and stores */
typedef uint32_t qemu_plugin_meminfo_t;
typedef void (*qemu_any_cb)(void); /* its parameters are those of the version: plugin.c */

/* Exported by the emulator, and by the glib that it is linked with. FROM_NEW: not by every version, so perhaps NULL. */
#define FROM_QEMU extern __attribute__((visibility("default")))
#define FROM_NEW extern __attribute__((visibility("default"), weak))
FROM_QEMU void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_any_cb cb, void *arg);
FROM_QEMU void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_any_cb cb, void *arg);
FROM_QEMU void qemu_plugin_register_flush_cb(qemu_plugin_id_t id, qemu_any_cb cb, void *arg);
FROM_QEMU void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_any_cb cb, void *arg);
FROM_QEMU void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
						      void (*cb)(unsigned vcpu, void *arg), int flags, void *arg);
FROM_QEMU void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
						void (*cb)(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t va,
							   void *arg),
						int flags, int which, void *arg);
FROM_QEMU bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
FROM_QEMU unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
FROM_QEMU size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
FROM_QEMU struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
FROM_QEMU size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
FROM_QEMU uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
FROM_QEMU size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t n); /* since 3 */
FROM_NEW int qemu_plugin_num_vcpus(void);                                                        /* since 2 */
FROM_NEW GArray *qemu_plugin_get_registers(void);
FROM_NEW bool qemu_plugin_read_register(struct qemu_plugin_register *r, GByteArray *to);
FROM_NEW bool qemu_plugin_write_register(struct qemu_plugin_register *r, GByteArray *from);
FROM_NEW int qemu_plugin_read_memory_hwaddr(uint64_t address, GByteArray *to, size_t n); /* 0: read */
FROM_NEW int qemu_plugin_write_memory_hwaddr(uint64_t address, GByteArray *from);
FROM_NEW void qemu_plugin_set_pc(uint64_t pc) __attribute__((noreturn));
FROM_QEMU GByteArray *g_byte_array_new(void);
FROM_QEMU GByteArray *g_byte_array_set_size(GByteArray *a, unsigned n);
FROM_QEMU uint8_t *g_byte_array_free(GByteArray *a, int with_data);
FROM_QEMU char *g_array_free(GArray *a, int with_data);

/* ---- emulators ----------------------------------------------------------------------------------------- */
struct emulator {           /* what the plugin does in one kind of emulator; an empty slot: nothing */
	const char *target; /* as QEMU calls it; NULL: any */
	bool system;        /* qemu-system-TARGET; else its user mode */
	int api;            /* version of the interface that is needed */
	int (*open)(void **ret, int argc, char *const *argv, struct err *e);
	void (*vcpu_init)(unsigned vcpu, void *arg);
	void (*translated)(struct qemu_plugin_tb *tb, void *arg);
	void (*flushed)(void *arg); /* all translations are gone, and no vCPU runs */
	void (*ended)(void *arg);
};
extern const struct emulator emulator_pseries, emulator_sun4v, emulator_refs;

/* ---- reach ----------------------------------------------------------------------------------------- */
#define REACH_REGS 9u
/* an instruction of the guest that an emulator waits for */
struct site {
	void *emulator;
	uint64_t pc;
	uint32_t kind; /* the emulator's own */
	struct site *next;
};
struct reach {
	/* set by reach_open(), then read-only */
	const char *const *names;
	unsigned nnames;
	uint64_t begin, end, block; /* where memory of the guest can be, and its least piece */
	/* under the lock: callbacks come from all vCPUs at once */
	pthread_mutex_t lock;
	struct qemu_plugin_register *r[REACH_REGS]; /* by name; NULL until the first vCPU is there */
	struct site *site;
	GByteArray *bytes;
};
void reach_open(struct reach *x, const char *const *names, unsigned n, uint64_t begin, uint64_t end, uint64_t block);
void reach_close(struct reach *x);
/* For the plugin: emulator begins with its struct reach. A vCPU is there: its registers are looked up. */
void reach_vcpu(unsigned vcpu, void *emulator);
/* Registers come in the byte order of the guest at that moment, as its instructions do. */
bool reach_get(struct reach *x, unsigned i, bool little, uint64_t *ret);
bool reach_set(struct reach *x, unsigned i, bool little, uint64_t v);
/* The site of an instruction, kept until reach_flush(); NULL: out of memory. */
struct site *reach_site(struct reach *x, void *emulator, uint64_t pc, uint32_t kind);
void reach_flush(void *emulator); /* the same: all sites are gone */
/* As struct hv_mem has them; arg is the struct reach. */
bool reach_is(void *arg, uint64_t ra, uint64_t n);
int reach_read(void *arg, uint64_t ra, void *to, size_t n);
int reach_write(void *arg, uint64_t ra, const void *from, size_t n);
/* The first four bytes of an instruction, big-endian; 0: it is shorter, or can't be read. */
uint32_t insn_word(const struct qemu_plugin_insn *insn);

#endif
