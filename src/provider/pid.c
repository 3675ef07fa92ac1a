/*
 * pid.c: probes in the functions of a process (Dynamic Tracing Guide, "pid Provider").
 *
 *	pidPID:MODULE:FUNCTION:entry     the function is called: arg0 .. arg9 are its arguments
 *	pidPID:MODULE:FUNCTION:return    it returns: arg1 is what it returns
 *	pidPID:MODULE:FUNCTION:1c        it comes to the instruction so far behind its beginning
 *	pidPID:MODULE:-:4a1c             to the instruction at that address of the file
 *
 * MODULE is the program (a.out, or by its name) or a library (libc.so.6, or libc).  Patterns name what is there when
 * the script is compiled.  The functions are those of the file's symbol tables; a function that the compiler put into
 * its callers is in none, and the refusal of a name that is not there says so.
 */
#include <stdio.h>
#include <string.h>

#include "provider/provider_int.h"

#define MADE_MOST (1u << 20) /* probes of one description */
#define CODE_MOST (1u << 24) /* bytes of a function */
#define INSN_MOST 15u        /* of an instruction */

static const char *const pid_names[] = { "entry", "return" };

struct pid_match {
	struct probes *t;
	struct user_process *p;
	const struct d_probedesc *d;
	const char *prov; /* pid123 */
	int (*add)(void *arg, uint32_t id);
	void *arg;
	struct err *why;
	int found;
};

/* A probe of that name at so many bytes behind the function's beginning. */
static int pid_make(struct pid_match *m, const struct user_file *f, const struct sym_func *func, const char *name,
		    uint8_t arm, uint64_t behind)
{
	const struct sym_func from = { .name = func->name, .offset = func->offset + behind, .size = INSN_MOST };
	uint8_t code[INSN_MOST];
	const char *func_name = arm == ARM_USER_PLACE && !strcmp(m->d->func, "-") ? "-" : func->name;
	struct user_place *place;
	struct probe *p;
	int rc;

	if (m->found == MADE_MOST)
		return err_set(m->why, TALLY_ENOTSUP, "%s: more than %u probes: name a module or functions", m->prov,
			       MADE_MOST);
	p = probes_add_of(m->t, &prov_pid, m->prov, f->mod, func_name, name);
	place = p && !p->place ? arena_alloc(&m->t->arena, sizeof(*place)) : NULL;
	if (!p || (!p->place && !place))
		return err_oom(m->why);
	if (!p->place) {
		*place =
			(struct user_place){ .pid = m->p->pid,
					     .file = f,
					     .offset = func->offset + behind,
					     .by_pattern = user_is_pattern(m->d->func) || user_is_pattern(m->d->name) };
		place->refused =
			place->by_pattern && user_insn_is_refused(f->code->machine, code,
								  sym_code_bytes(f->code, &from, code, sizeof(code)));
		p->arm = arm;
		p->place = place;
		p->source = arm == ARM_USER_RETURN ? "uretprobe" : "uprobe";
	}
	rc = m->add(m->arg, p->id);
	m->found++;
	return rc < 0 ? rc : 0;
}

/* Hexadecimal, as the name of a probe is: no 0x, no zero in front. */
static bool pid_offset_name(const char *name, uint64_t *ret)
{
	uint64_t v = 0;
	size_t n = 0;

	for (; name[n]; n++) {
		const char c = name[n];

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')) || n == 16)
			return false;
		v = v << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	*ret = v;
	return n > 0 && (n == 1 || *name != '0');
}

/* The instructions of a function: those whose offset matches, or the one at `only`. Nobody is asked for bytes behind
 * `only`. */
static int pid_make_offsets(struct pid_match *m, const struct user_file *f, const struct sym_func *func, uint64_t only)
{
	const size_t size = func->size < CODE_MOST ? func->size : CODE_MOST;
	uint8_t *code = mem_alloc(size + 1);
	size_t n = code ? sym_code_bytes(f->code, func, code, size) : 0;
	int rc = code ? 0 : err_oom(m->why);
	uint32_t len;

	for (size_t at = 0;
	     rc == 0 && at < n && at <= only && (len = user_insn_length(f->code->machine, code + at, n - at)) != 0;
	     at += len) {
		char name[20];

		snprintf(name, sizeof(name), "%llx", (unsigned long long)at);
		if (only == UINT64_MAX ? text_glob(m->d->name, name) : at == only)
			rc = pid_make(m, f, func, only == UINT64_MAX ? name : m->d->name, ARM_USER_PLACE, at);
	}
	mem_free(code);
	return rc;
}

/* Function "-": an address of the file. */
static int pid_make_address(struct pid_match *m, const struct user_file *f)
{
	const struct sym_func *func;
	uint64_t addr;

	if (!pid_offset_name(m->d->name, &addr))
		return 0;
	func = sym_code_at(f->code, addr);
	return func ? pid_make_offsets(m, f, func, addr - func->addr) : 0;
}

static int pid_make_in_file(struct pid_match *m, const struct user_file *f)
{
	const bool instructions = *m->d->mod && user_is_pattern(m->d->name);
	uint64_t only = UINT64_MAX;
	int rc = 0;

	if (!strcmp(m->d->func, "-"))
		return pid_make_address(m, f);
	for (uint32_t i = 0; rc == 0 && i < f->code->nfuncs; i++) {
		const struct sym_func *func = &f->code->func[i];

		if (!text_glob(m->d->func, func->name))
			continue;
		if (text_glob(m->d->name, pid_names[0]))
			rc = pid_make(m, f, func, pid_names[0], ARM_USER_ENTRY, 0);
		if (rc == 0 && text_glob(m->d->name, pid_names[1]))
			rc = pid_make(m, f, func, pid_names[1], ARM_USER_RETURN, 0);
		if (rc == 0 && (instructions || pid_offset_name(m->d->name, &only)))
			rc = pid_make_offsets(m, f, func, only);
	}
	return rc;
}

/* Whether there is a function that is meant; *most: the size of the largest one. */
static bool pid_function_size(const struct pid_match *m, uint64_t *most)
{
	bool found = false;

	*most = 0;
	for (uint32_t i = 0; i < m->p->nfiles; i++)
		for (uint32_t k = 0; user_file_is(&m->p->file[i], m->d->mod) && k < m->p->file[i].code->nfuncs; k++) {
			const struct sym_func *f = &m->p->file[i].code->func[k];

			if (!text_glob(m->d->func, f->name))
				continue;
			found = true;
			*most = f->size > *most ? f->size : *most;
		}
	return found;
}

/* There is the function, and no instruction begins at that offset. */
static int pid_no_offset(const struct pid_match *m, bool behind)
{
	const bool any = !strcmp(m->d->func, "-");

	probes_refuse_as(m->t, any && *m->d->mod && strcmp(m->d->mod, "a.out") != 0 ? D_PROC_LIB :
			       behind && !any                                       ? D_PROC_OFF :
										      D_PROC_ALIGN);
	return err_set(m->why, TALLY_ENOPROBE,
		       "pid: no instruction of %.100s begins at %.40s (hexadecimal): "
		       "tally trace -l lists them, with the name left out",
		       any ? "a function" : m->d->func, m->d->name);
}

/* No function of that name: which is near, and why it may be missing. */
static int pid_no_function(const struct pid_match *m)
{
	const char **names = NULL, *mod = *m->d->mod ? m->d->mod : NULL;
	uint32_t n = 0, cap = 0;
	bool stripped = false;
	struct err_tail near;

	for (uint32_t i = 0; i < m->p->nfiles; i++) {
		const struct user_file *f = &m->p->file[i];

		if (!user_file_is(f, m->d->mod))
			continue;
		stripped |= f->code->stripped;
		for (uint32_t k = 0; k < f->code->nfuncs; k++) {
			const char **to = VEC_NEW(names, n, cap);

			if (to)
				*to = f->code->func[k].name;
		}
	}
	near = err_near("", m->d->func, TEXT_NAMES(names, n));
	mem_free(names);
	if (mod && !user_is_pattern(mod))
		probes_refuse_as(m->t, D_PROC_FUNC);
	return err_set(
		m->why, TALLY_ENOPROBE, "pid: no function \"%.100s\" in %.100s%s%s", m->d->func,
		mod ? mod : "the process", near.text,
		*near.text ?
			"" :
		stripped ?
			"; a stripped file has only those that other files call (its debug symbols have the others)" :
			"; the compiler may have put it into its callers (static, inline)");
}

static int pid_no_name(const struct pid_match *m)
{
	const struct err_tail near = err_near("", m->d->name, TEXT_NAMES(pid_names, COUNT(pid_names)));

	probes_refuse_as(m->t, D_PROC_NAME);
	return err_set(m->why, TALLY_ENOPROBE, "pid: no probe \"%.100s\"%s", m->d->name,
		       *near.text ? near.text : ": expected entry, return or an offset such as 1c");
}

static int pid_match_process(struct pid_match *m)
{
	const struct user_file *foreign = NULL;
	bool has_module = false;
	uint64_t offset = 0, most;
	int rc = 0;

	if (!strcmp(m->d->func, "-") && user_is_pattern(m->d->name))
		return err_set(m->why, TALLY_ESYNTAX,
			       "pid: the name of a probe of function \"-\" is an address: a pattern of them is none");

	for (uint32_t i = 0; rc == 0 && i < m->p->nfiles; i++) {
		const struct user_file *f = &m->p->file[i];

		if (!user_file_is(f, m->d->mod))
			continue;
		has_module = true;
		if (user_code_is_ours(f))
			rc = pid_make_in_file(m, f);
		else
			foreign = f;
	}
	if (rc < 0 || m->found)
		return rc < 0 ? rc : m->found;
	if (!has_module)
		return user_no_module(m->p, "pid", m->d->mod, m->why);
	if (foreign)
		return user_not_ours(m->p, foreign, m->why);
	if (!text_glob(m->d->name, pid_names[0]) && !text_glob(m->d->name, pid_names[1]) &&
	    !pid_offset_name(m->d->name, &offset))
		return pid_no_name(m);
	if (pid_function_size(m, &most) || !strcmp(m->d->func, "-"))
		return pid_no_offset(m, offset >= most);
	return user_is_pattern(m->d->func) ? 0 : pid_no_function(m);
}

/* Which kinds of probes a description may mean: bit i is ARM_USER_ENTRY + i. */
static uint32_t pid_kinds(const struct d_probedesc *d)
{
	uint64_t offset;
	uint32_t kinds = 0;

	if (strcmp(d->func, "-") != 0) {
		kinds |= text_glob(d->name, pid_names[0]) ? 1u : 0;
		kinds |= text_glob(d->name, pid_names[1]) ? 2u : 0;
	}
	if ((*d->mod && user_is_pattern(d->name)) || pid_offset_name(d->name, &offset))
		kinds |= 4u;
	return kinds;
}

static int pid_match(struct probes *t, const struct d_probedesc *d, int (*add)(void *arg, uint32_t id), void *arg,
		     struct err *why)
{
	struct pid_match m = { .t = t, .d = d, .add = add, .arg = arg, .why = why };
	char pattern[64], prov[16];
	const char *digits;
	uint32_t pid;
	int rc, found;

	digits = user_process_of(d->prov, &pid);
	if (!digits && !strncmp(d->prov, "pid0", 4) && strspn(d->prov + 3, "0") == strlen(d->prov + 3)) {
		probes_refuse_as(t, D_PROC_BADPID);
		return err_set(why, TALLY_ENOPROBE, "pid: process 0 is the kernel's");
	}
	if (!digits || (size_t)(digits - d->prov) >= sizeof(pattern))
		return 0;
	snprintf(pattern, sizeof(pattern), "%.*s", (int)(digits - d->prov), d->prov);
	if (!text_glob(pattern, "pid"))
		return 0;
	if ((rc = user_elsewhere(t, "pid", why)) < 0)
		return rc;
	if ((rc = user_process(t, pid, &m.p, why)) < 0) {
		probes_refuse_as(t, D_PROC_GRAB);
		return rc;
	}
	snprintf(prov, sizeof(prov), "pid%u", pid);
	m.prov = arena_strdup(&t->arena, prov);
	if (!m.prov)
		return err_oom(why);
	found = pid_match_process(&m);
	rc = user_may_come(m.p, d) ? user_wait_add(t, &prov_pid, m.prov, m.p, d, pid_kinds(d), found, add, arg, why) :
				     0;
	return rc < 0 ? rc : found;
}

static int pid_match_file(struct probes *t, const struct user_wait *w, const struct user_file *f,
			  int (*add)(void *arg, uint32_t id), void *arg, struct err *why)
{
	struct user_process p = { .pid = w->pid };
	struct pid_match m = { .t = t, .p = &p, .d = &w->d, .prov = w->prov_name, .add = add, .arg = arg, .why = why };

	return pid_make_in_file(&m, f);
}

static int pid_offer(struct probes *t, struct err *e)
{
	(void)t, (void)e; /* they are of a process that somebody names */
	return 0;
}

static int pid_why_none(const struct probes *t, const struct d_probedesc *d, struct err *why)
{
	int rc = user_elsewhere(t, "pid", why);

	(void)d;
	return rc < 0 ?
		       rc :
		       err_set(why, TALLY_ENOPROBE,
			       "pid: the name has the process id in it: pid1234:a.out:main:entry, or pid$target with -c or -p");
}

const struct provider prov_pid = {
	.name = "pid",
	.help = "functions of a process: pidPID:MODULE:FUNCTION:entry, return, or an offset",
	.is_long = true,
	.is_of_process = true,
	.provider = { STAB_EVOLVING, STAB_EVOLVING, DEP_ISA },
	.module = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },
	.function = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },
	.names = { STAB_EVOLVING, STAB_EVOLVING, DEP_ISA },
	.args = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },
	.offer = pid_offer,
	.why_none = pid_why_none,
	.match = pid_match,
	.match_file = pid_match_file,
};
