/*
 * load.c: instructions to loaded programs.
 *
 * An image names maps by index and fields of kernel structs by name; here both
 * become what this kernel wants: descriptors and offsets.  Kernel types cost
 * several milliseconds to read, so they are only read when a program has such
 * a field.
 *
 * The verifier's log is asked for on a second try only: writing it slows the
 * first by a multiple.  It speaks of instructions; people wrote D.  The image
 * knows the line of each instruction, so the words begin with that line, then
 * the verifier's reason, then the instruction.
 *
 * A load that fails is not always a refusal: a signal ends the verifier's walk
 * (EAGAIN), and a process can be out of descriptors.  Those are told as what
 * they are, and not tried again.
 */
#include <bpf/btf.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bpf/insn.h"
#include "kernel/kernel_int.h"
#include "kernel/libbpf_int.h"

#define LICENSE "Dual MIT/GPL"
#define LOG_BYTES (1u << 20)
#define FIELD_DEPTH 8 /* anonymous structs within structs */

static const enum bpf_prog_type kernel_class[] = {
	[IMG_PERF] = BPF_PROG_TYPE_PERF_EVENT,      [IMG_TEST] = BPF_PROG_TYPE_RAW_TRACEPOINT,
	[IMG_ENTRY] = BPF_PROG_TYPE_RAW_TRACEPOINT, [IMG_RETURN] = BPF_PROG_TYPE_RAW_TRACEPOINT,
	[IMG_POINT] = BPF_PROG_TYPE_RAW_TRACEPOINT, [IMG_USER_ENTRY] = BPF_PROG_TYPE_KPROBE,
	[IMG_USER_RETURN] = BPF_PROG_TYPE_KPROBE,   [IMG_USER_PLACE] = BPF_PROG_TYPE_KPROBE,
};

/* ---- what the instructions refer to ------------------------------------------ */

static int patch_maps(const struct k_run *k, struct bpf_ins *ins, uint32_t n, struct err *e)
{
	for (uint32_t i = 0; i < n; i++) {
		if (ins[i].code != INS_LD_IMM64)
			continue;
		if (ins[i].src == INS_SRC_MAP || ins[i].src == INS_SRC_MAP_VALUE) {
			if ((uint32_t)ins[i].imm >= k->nmaps)
				return err_set(e, TALLY_EINVAL, "instruction %u: there is no map %d", i, ins[i].imm);
			ins[i].imm = k->map[ins[i].imm].fd;
		}
		i++; /* the second half has no code of its own */
	}
	return 0;
}

/* Byte offset of a member, also within unnamed ones; -1: there is none, or it is a bit-field that does not begin at a
 * byte. *type becomes the member's. */
static int64_t member_offset(const struct k_btf *btf, uint32_t *type, const char *name, size_t len, int depth)
{
	const struct btf_type *t = k_btf_type(btf, *type);

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = k_btf_type(btf, t->type);
	if (!t || !btf_is_composite(t) || depth > FIELD_DEPTH)
		return -1;
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = btf_members(t) + i;
		const char *is = k_btf_text(btf, m->name_off);
		int64_t at = btf_member_bit_offset(t, i) / 8, inner;

		*type = m->type;
		if (strlen(is) == len && !memcmp(is, name, len))
			return btf_member_bit_offset(t, i) % 8 ? -1 : at;
		if (!*is && (inner = member_offset(btf, type, name, len, depth + 1)) >= 0)
			return at + inner;
	}
	return -1;
}

/* Offset of a field, or of a field of a field: "se.sum_exec_runtime". */
static int64_t field_offset(const struct k_btf *btf, uint32_t type, const char *field)
{
	int64_t sum = 0, at = 0;

	while (at >= 0 && *field) {
		size_t n = strcspn(field, ".");

		at = member_offset(btf, &type, field, n, 0);
		sum += at;
		field += n + (field[n] == '.');
	}
	return at < 0 ? -1 : sum;
}

int64_t btf_field(const struct k_btf *btf, const char *type, const char *field)
{
	const uint32_t id = k_btf_find_kind(btf, type, BTF_KIND_STRUCT);

	return id ? field_offset(btf, id, field) : -1;
}

static int patch_fields(const struct k_btf *btf, const struct img_prog *p, struct bpf_ins *ins, struct err *e)
{
	for (uint32_t i = 0; i < p->nrelocs; i++) {
		const struct img_reloc *r = &p->reloc[i];
		int64_t at = btf_field(btf, r->type, r->field);

		if (r->ins >= p->nins)
			return err_set(e, TALLY_EINVAL, "there is no instruction %u", r->ins);
		if (at < 0)
			return err_set(e, TALLY_ENOTSUP, "line %u: this kernel's struct %s has no field %s",
				       p->line[r->ins], r->type, r->field);
		if (INS_CLASS(ins[r->ins].code) == INS_LDX)
			ins[r->ins].off = (int16_t)(ins[r->ins].off + at);
		else
			ins[r->ins].imm += (int32_t)at;
	}
	return 0;
}

/* ---- what the verifier says ------------------------------------------------------ */

/* One line of the log: its start, and its length without the newline. */
struct line {
	const char *p;
	size_t n;
};

static bool next_line(const char **log, struct line *l)
{
	const char *end;

	if (!**log)
		return false;
	end = strchrnul(*log, '\n');
	*l = (struct line){ *log, (size_t)(end - *log) };
	*log = *end ? end + 1 : end;
	return true;
}

/* "17: (85) call ...": its number, else -1. */
static long line_instruction(const struct line *l)
{
	char *end;
	long n;

	if (!l->n || !isdigit((unsigned char)*l->p))
		return -1;
	n = strtol(l->p, &end, 10);
	return end[0] == ':' && end[1] == ' ' && end[2] == '(' ? n : -1;
}

/* "... from insn 5 to 9", "unreachable insn 12": the first number after the word, else -1. */
static long line_mentions(const struct line *l)
{
	const char *at = memmem(l->p, l->n, "insn ", 5);

	return at && isdigit((unsigned char)at[5]) ? strtol(at + 5, NULL, 10) : -1;
}

static bool load_line_starts(const struct line *l, const char *with)
{
	return l->n >= strlen(with) && !memcmp(l->p, with, strlen(with));
}

/* Lines that describe the state or sum up, and so are never the reason. */
static bool line_is_chatter(const struct line *l)
{
	static const char *const chatter[] = {
		"processed ",   "verification time", "stack depth", "from ",   "max_states", "func#",
		"mark_precise", "last_idx",          "regs=",       "parent ", "; ",
	};

	for (size_t i = 0; i < COUNT(chatter); i++)
		if (load_line_starts(l, chatter[i]))
			return true;
	return l->n == 0 || (isdigit((unsigned char)*l->p) && memchr(l->p, ':', l->n));
}

/* Line of D that instruction `at` belongs to: glue (line 0) belongs to what comes before it, or else behind it. */
static uint32_t line_of(const struct img_prog *prog, uint32_t at)
{
	uint32_t i = at;

	while (i > 0 && !prog->line[i])
		i--;
	while (i + 1 < prog->nins && !prog->line[i])
		i++;
	return prog->line[i];
}

/* The line that most instructions come from: what to make smaller. Without memory to count, a line of the program. */
static uint32_t line_of_most(const struct img_prog *prog)
{
	uint32_t last = 0, best = 0, *n;

	for (uint32_t i = 0; i < prog->nins; i++)
		last = prog->line[i] > last ? prog->line[i] : last;
	n = mem_alloc(((size_t)last + 1) * sizeof(*n));
	if (!n)
		return line_of(prog, 0);
	for (uint32_t i = 0; i < prog->nins; i++)
		if (prog->line[i] && ++n[prog->line[i]] > n[best])
			best = prog->line[i];
	mem_free(n);
	return best;
}

/* The words when the verifier walked more instructions than it may: they name the line that most of them come from. */
static int load_too_large(const struct img_prog *prog, struct err *e)
{
	return err_set(e, TALLY_EVERIFY,
		       "line %u: program %.16s is too large for the kernel's verifier, and most of it comes "
		       "from this line: use fewer string functions, or lower strsize",
		       line_of_most(prog), prog->name);
}

int load_refused(const struct img_prog *prog, const char *log, struct err *e)
{
	struct line l, reason = { "no reason given", 15 }, ins = { "", 0 };
	long at = -1, said = -1;

	while (next_line(&log, &l)) {
		if (line_instruction(&l) >= 0) {
			at = line_instruction(&l);
			ins = l;
		} else if (!line_is_chatter(&l)) {
			reason = l;
			said = line_mentions(&l);
		}
	}
	if (at < 0)
		at = said;
	if (memmem(reason.p, reason.n, "probe_write_user", 16))
		return err_set(e, TALLY_EVERIFY,
			       "line %u: this kernel lets no program write the memory of a process (copyout(), "
			       "copyoutstr()): it is locked down (/sys/kernel/security/lockdown)",
			       at >= 0 && at < (long)prog->nins ? line_of(prog, (uint32_t)at) : 0);
	if (at < 0 || at >= (long)prog->nins)
		return err_set(e, TALLY_EVERIFY, "the kernel refused program %.16s: %.*s", prog->name,
			       (int)(reason.n < 200 ? reason.n : 200), reason.p);
	return err_set(e, TALLY_EVERIFY, "line %u: the kernel refused this: %.*s (instruction %.*s)",
		       line_of(prog, (uint32_t)at), (int)(reason.n < 200 ? reason.n : 200), reason.p,
		       (int)(ins.n < 100 ? ins.n : 100), ins.n ? ins.p : "unknown");
}

/* ---- types of functions ----------------------------------------------------------- */

/*
 * A program with functions needs BTF: a global function is checked against its prototype, not its callers, and a
 * callback must be known as one.  The types are few: a number, and a pointer to an array of so many bytes.
 */
struct func_types {
	struct btf *btf;
	struct bpf_func_info info[IMG_FUNCS_MOST + 1];
	uint32_t n;
};

/* A pointer to `bytes` bytes. */
static int types_pointer(struct btf *btf, int byte, int index, uint32_t bytes)
{
	int array = btf__add_array(btf, index, byte, bytes);

	return array < 0 ? array : btf__add_ptr(btf, array);
}

static int types_function(struct func_types *t, const struct img_func *f, int byte, int number)
{
	int arg[COUNT(f->arg_bytes)] = { 0 }, rc = 0, proto;
	char name[16];

	for (uint8_t k = 0; k < f->nargs && rc >= 0; k++)
		rc = arg[k] = types_pointer(t->btf, byte, number, f->arg_bytes[k]);
	if (rc < 0 || (proto = btf__add_func_proto(t->btf, number)) < 0)
		return -1;
	for (uint8_t k = 0; k < f->nargs && rc >= 0; k++)
		rc = btf__add_func_param(t->btf, (const char *[]){ "work", "text", "needle" }[k], arg[k]);
	snprintf(name, sizeof(name), "f%u", t->n);
	if (rc >= 0)
		rc = btf__add_func(t->btf, name, f->nargs || !t->n ? BTF_FUNC_GLOBAL : BTF_FUNC_STATIC, proto);
	t->info[t->n++] = (struct bpf_func_info){ .insn_off = f->ins, .type_id = (uint32_t)rc };
	return rc;
}

/* The types of the program itself and of its functions, loaded. */
static int types_open(struct func_types *t, const struct img_prog *p, struct err *e)
{
	const struct img_func whole = { 0 };
	int byte, number, rc;

	t->btf = btf__new_empty();
	byte = t->btf ? btf__add_int(t->btf, "char", 1, BTF_INT_SIGNED) : -1;
	number = t->btf ? btf__add_int(t->btf, "long", 8, BTF_INT_SIGNED) : -1;
	rc = byte < 0 || number < 0 ? -1 : types_function(t, &whole, byte, number);
	for (uint32_t i = 0; i < p->nfuncs && rc >= 0; i++)
		rc = types_function(t, &p->func[i], byte, number);
	if (rc < 0)
		return err_oom(e);
	if (btf__load_into_kernel(t->btf) == 0)
		return 0;
	return errno == EPERM ? rights_bpf("loading the types of a BPF program", e) :
				run_file_refused("loading the types of a BPF program", errno, e);
}

/* ---- loading ------------------------------------------------------------------------ */

/* The kernel takes letters, digits, '_' and '.', 15 of them. */
static void clean_name(const char *from, char to[static 16])
{
	size_t n = 0;

	for (; n < 15 && from[n]; n++)
		to[n] = isalnum((unsigned char)from[n]) || from[n] == '.' ? from[n] : '_';
	to[n] = '\0';
}

/* A signal ends the verifier's walk. One of a row (a profiler's timer) comes again, and short walks get past it; but
 * who interrupts a long walk, or has set *stop, wants it to end. A signal between two loads ends none, so *stop is
 * asked for before each. */
#define TRIES 5
#define LONG_WALK_MS 50

static int64_t load_clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The kernel's number for what a tracepoint hands over. */
static uint32_t tracepoint_id(const struct k_btf *btf, const char *tracepoint)
{
	char name[128];

	snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	return k_btf_find_kind(btf, name, BTF_KIND_TYPEDEF);
}

/* The kernel's number for a function; 0: it is unknown. *btf_fd: of a function of a module the types of that module. */
static uint32_t function_id(const struct k_btf *kernel, const char *module, const char *function, int *btf_fd)
{
	struct k_btf own;
	char path[128];
	uint32_t id;

	if (!module)
		return k_btf_find_kind(kernel, function, BTF_KIND_FUNC);
	snprintf(path, sizeof(path), "/sys/kernel/btf/%s", module);
	if (k_btf_open(&own, path, kernel) < 0)
		return 0;
	id = k_btf_find_kind(&own, function, BTF_KIND_FUNC);
	k_btf_close(&own);
	*btf_fd = id ? function_module_types(module) : -1;
	return *btf_fd < 0 ? 0 : id;
}

static int prog_load(const struct k_run *k, const struct img_prog *p, const struct bpf_ins *ins,
		     const struct func_types *t, char *log)
{
	LIBBPF_OPTS(bpf_prog_load_opts, o, .attempts = 1, .log_level = log ? 1 : 0, .log_buf = log,
		    .log_size = log ? LOG_BYTES : 0, .prog_btf_fd = t->btf ? (uint32_t)btf__fd(t->btf) : 0,
		    .func_info = t->n ? t->info : NULL, .func_info_cnt = t->n,
		    .func_info_rec_size = t->n ? sizeof(*t->info) : 0,
		    .expected_attach_type = kernel_class[p->cls] == BPF_PROG_TYPE_KPROBE ? places_attach_type() : 0);
	int64_t begin = load_clock_ms();
	enum bpf_prog_type type = kernel_class[p->cls];
	char name[16];
	int fd = -1, module = -1, no;

	if (p->typed && p->at == POINT_TRACEPOINT) {
		type = BPF_PROG_TYPE_TRACING;
		o.expected_attach_type = BPF_TRACE_RAW_TP;
		o.attach_btf_id = tracepoint_id(&k->btf, p->typed);
	} else if (p->typed) {
		type = BPF_PROG_TYPE_TRACING;
		o.expected_attach_type = p->at == POINT_ENTRY ? BPF_TRACE_FENTRY : BPF_TRACE_FEXIT;
		o.attach_btf_id = function_id(&k->btf, p->module, p->typed, &module);
		o.attach_btf_obj_fd = module < 0 ? 0 : (uint32_t)module;
	} else if (p->at != POINT_TRACEPOINT) {
		type = BPF_PROG_TYPE_KPROBE;
	}
	clean_name(p->name, name);
	errno = EAGAIN;
	for (int i = 0; i < TRIES && !(k->stop && *k->stop); i++) {
		fd = bpf_prog_load(type, name, LICENSE, (const struct bpf_insn *)(const void *)ins, p->nins, &o);
		if (fd >= 0 || errno != EAGAIN || load_clock_ms() - begin > LONG_WALK_MS)
			break;
		errno = EAGAIN; /* the clock may have changed it */
	}
	no = errno;
	if (module >= 0)
		close(module);
	errno = no;
	return fd;
}

/* What says nothing about the program itself. */
static int prog_not_refused(const struct img_prog *p, int no, struct err *e)
{
	switch (no) {
	case EPERM:
		return rights_bpf("loading a BPF program", e);
	case EMFILE:
	case ENFILE:
		return run_file_refused("loading a BPF program", no, e);
	case EAGAIN:
		return err_set(e, TALLY_EIO, "interrupted: a signal came while the kernel checked program %.16s",
			       p->name);
	default:
		return 0;
	}
}

/* The second try, with the log; it could even go well, if memory was short. */
static int prog_explain(const struct k_run *k, const struct img_prog *p, const struct bpf_ins *ins,
			const struct func_types *t, int *fd, struct err *e)
{
	int first = errno, rc = prog_not_refused(p, first, e), no;
	char *log;

	if (rc == 0 && first == E2BIG)
		rc = load_too_large(p, e);
	if (rc < 0)
		return rc;
	log = mem_alloc(LOG_BYTES);
	if (!log)
		return err_oom(e);
	*fd = prog_load(k, p, ins, t, log);
	no = errno;
	log[LOG_BYTES - 1] = '\0';
	/* Linux 6.1 stops when the log is full: then its last line is no reason */
	if (*fd < 0 && (rc = prog_not_refused(p, no, e)) == 0)
		rc = *log && no != ENOSPC ?
			     load_refused(p, log, e) :
			     err_set(e, TALLY_EVERIFY,
				     "line %u: the kernel refused program %.16s, and most of it comes from this "
				     "line: %s",
				     line_of_most(p), p->name, strerror(first));
	mem_free(log);
	return rc;
}

/* A second load, for the log alone. */
static int prog_tell(const struct k_run *k, const struct img_prog *p, const struct bpf_ins *ins,
		     const struct func_types *t, struct err *e)
{
	char *log = mem_alloc(LOG_BYTES);
	int fd;

	if (!log)
		return err_oom(e);
	fd = prog_load(k, p, ins, t, log);
	if (fd >= 0)
		close(fd);
	buf_put(k->log, log, strnlen(log, LOG_BYTES));
	mem_free(log);
	return k->log->failed ? err_oom(e) : 0;
}

static int prog_open(const struct k_run *k, const struct img_prog *p, int *fd, struct err *e)
{
	struct func_types types = { 0 };
	struct bpf_ins *ins;
	int rc;

	if (p->cls >= COUNT(kernel_class) || !kernel_class[p->cls] || !p->nins)
		return err_set(e, TALLY_EINVAL, "program %.16s: nothing to load", p->name);
	ins = mem_alloc(p->nins * sizeof(*ins));
	if (!ins)
		return err_oom(e);
	memcpy(ins, p->ins, p->nins * sizeof(*ins));
	rc = patch_maps(k, ins, p->nins, e);
	if (rc == 0 && p->nrelocs)
		rc = patch_fields(&k->btf, p, ins, e);
	if (rc == 0 && p->nfuncs)
		rc = types_open(&types, p, e);
	if (rc == 0 && (*fd = prog_load(k, p, ins, &types, NULL)) < 0 && !(p->may_fail && function_is_refused(errno)))
		rc = prog_explain(k, p, ins, &types, fd, e);
	if (rc == 0 && k->log && *fd >= 0)
		rc = prog_tell(k, p, ins, &types, e);
	btf__free(types.btf);
	mem_free(ins);
	return rc;
}

/* Program n of the image: its parts lie behind the others. */
static const struct img_prog *prog_of(const struct bpf_image *img, uint32_t n)
{
	return n < img->nprogs ? &img->prog[n] : &img->part[n - img->nprogs];
}

static bool has_relocs(const struct bpf_image *img)
{
	for (uint32_t i = 0; i < img->nprogs + img->nparts; i++)
		if (prog_of(img, i)->nrelocs || prog_of(img, i)->typed)
			return true;
	return false;
}

static int kernel_btf_open(struct k_btf *ret, struct err *e)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";

	errno = 0;
	int rc = k_btf_open(ret, path, NULL);
	if (rc == 0)
		return 0;
	if (rc == -TALLY_ENOMEM)
		return err_oom(e);
	if (errno == EMFILE || errno == ENFILE)
		return run_file_refused(path, errno, e);
	if (k_btf_search(ret) == 0)
		return 0;
	return err_set(e, TALLY_ENOTSUP,
		       "this kernel has no type information (BTF: %s): ppid, vtimestamp and self-> require it", path);
}

/* Puts each part where the tail calls of its class look for it. */
static int parts_link(const struct k_run *k, const struct bpf_image *img, struct err *e)
{
	for (uint32_t m = 0; m < img->nmaps; m++)
		for (uint32_t i = 0; img->map[m].use == IMG_PARTS && i < img->nparts; i++)
			if (img->part[i].group == img->map[m].id &&
			    bpf_map_update_elem(k->map[m].fd, &i, &k->prog[img->nprogs + i], BPF_ANY) < 0)
				return err_set(e, TALLY_EIO, "cannot store part %u of program %.16s: %s", i,
					       img->part[i].name, strerror(errno));
	return 0;
}

int progs_open(struct k_run *k, const struct bpf_image *img, struct err *e)
{
	int rc = 0;

	if (has_relocs(img) && (rc = kernel_btf_open(&k->btf, e)) < 0)
		return rc;
	k->prog = mem_alloc((img->nprogs + img->nparts) * sizeof(*k->prog));
	k->image = img->prog;
	if (!k->prog)
		rc = err_oom(e);
	for (uint32_t i = 0; i < img->nprogs + img->nparts && rc == 0; i++) {
		k->prog[i] = -1;
		i < img->nprogs ? k->nprogs++ : k->nparts++;
		rc = prog_open(k, prog_of(img, i), &k->prog[i], e);
	}
	if (rc == 0 && img->nparts)
		rc = parts_link(k, img, e);
	return rc;
}

void progs_close(struct k_run *k)
{
	for (uint32_t i = 0; i < k->nprogs + k->nparts; i++)
		if (k->prog[i] >= 0)
			close(k->prog[i]);
	k_btf_close(&k->btf);
	mem_free(k->prog);
	k->prog = NULL;
	k->nprogs = k->nparts = 0;
}

int k_test_run(struct k_run *k, uint32_t prog, struct err *e)
{
	LIBBPF_OPTS(bpf_test_run_opts, o);
	int rc;

	if (prog >= k->nprogs)
		return err_set(e, TALLY_EINVAL, "there is no program %u", prog);
	if ((rc = rings_ready(k, e)) < 0)
		return rc;
	if (bpf_prog_test_run_opts(k->prog[prog], &o) < 0)
		return errno == EPERM ? rights_bpf("running a BPF program", e) :
					err_set(e, TALLY_EIO, "running a program failed: %s", strerror(errno));
	return 0;
}
