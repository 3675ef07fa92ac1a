/*
 * usdt.c: static probes in programs and libraries (Dynamic Tracing Guide, "Statically Defined Tracing for User
 * Applications").
 *
 *	PROVIDERpid:MODULE:FUNCTION:NAME     the program comes to the probe: arg0 .. arg9 are its arguments
 *
 * A program says where its probes are and where their arguments lie in notes of its file (.note.stapsdt:
 * symbol/code.c), which the macros of <sys/sdt.h> write, and those of a header that `tally trace -h` makes.  PROVIDER
 * and NAME are the program's; two underscores of a name are a dash, as D has it (query__start: query-start).  FUNCTION
 * is where the probe stands.  One that stands in a function several times is one probe with several places, each of
 * which has its own operands (operand.c).
 *
 * PROVIDERpid may be a pattern of several processes: `myapp*`.  Then all processes are looked at that run when the
 * script is compiled, each of their files once; but only where no other provider has such a name, since that look takes
 * milliseconds for each file. A pattern that any process id matches stands for places of files, whichever process comes
 * to them: so processes that begin later fire them, too, and need no look.  Such a probe is one for all processes, and
 * probeprov is made when it fires, of the provider's name and the process id.  Files that no process mapped before are
 * looked at when they are executed (later.c).  A list has a probe for each process.
 */
#include <stdio.h>
#include <string.h>

#include "provider/provider_int.h"

#define NAME_MOST 128u
#define USDT_KINDS 4u /* of user_wait_add(): places alone */

/* args[] of a probe: the size and the sign of an argument are known, and no more. */
static const struct d_args usdt_values[][OPERANDS_MOST] = {
#define VALUE(type, n)                  \
	{                               \
		.value = type, .arg = n \
	}
#define VALUES(type)                                                                                            \
	{                                                                                                       \
		VALUE(type, 0), VALUE(type, 1), VALUE(type, 2), VALUE(type, 3), VALUE(type, 4), VALUE(type, 5), \
			VALUE(type, 6), VALUE(type, 7), VALUE(type, 8), VALUE(type, 9)                          \
	}
	VALUES("uint8_t"), VALUES("uint16_t"), VALUES("uint32_t"), VALUES("uint64_t"),
	VALUES("int8_t"),  VALUES("int16_t"),  VALUES("int32_t"),  VALUES("int64_t"),
#undef VALUES
#undef VALUE
};

static const struct d_args *usdt_args(const struct probe *p, uint32_t index)
{
	const struct bpf_place *b;

	if (!p->place)
		return &d_args_any; /* it stands for probes of files that come later */
	b = &p->place->b;
	if (index >= b->noperands)
		return NULL;
	return &usdt_values[(b->operand[index].is_signed ? 4 : 0) + __builtin_ctz(b->operand[index].bytes)][index];
}

struct usdt_match {
	struct probes *t;
	struct user_process *p;
	const struct d_probedesc *d;
	const char *pattern; /* of the provider without the process id; NULL: of both */
	int (*add)(void *arg, uint32_t id);
	void *arg;
	struct err *why;
	int found;
	bool may_be_any; /* a pattern of process ids stands for places of files */
};

/* Whether the description is about whichever process: its pattern matches the provider's name with any process id
 * behind it. */
static bool usdt_is_any(const struct usdt_match *m, const char *prov)
{
	const size_t n = strlen(m->d->prov);

	return m->may_be_any && n && m->d->prov[n - 1] == '*' && text_glob(m->d->prov, prov);
}

/* query__start: query-start */
static void usdt_name(const char *name, char to[static NAME_MOST])
{
	size_t n = 0;

	while (*name && n < NAME_MOST - 1) {
		const bool dash = name[0] == '_' && name[1] == '_';

		to[n++] = dash ? '-' : *name;
		name += dash ? 2 : 1;
	}
	to[n] = '\0';
}

static bool usdt_place_is_there(const struct probe *p, const struct user_file *f, uint64_t offset)
{
	for (const struct user_place *at = p->place; at; at = at->next)
		if (at->offset == offset && user_file_is_same(at->file, f))
			return true;
	return false;
}

static int usdt_make(struct usdt_match *m, const struct user_file *f, const struct sym_note *note, const char *func,
		     const char *name)
{
	struct arena *a = &m->t->arena;
	struct user_place *place;
	const bool is_any = usdt_is_any(m, note->prov);
	char prov[NAME_MOST + 16];
	const char *kept;
	struct probe *p;
	int rc;

	if (is_any)
		snprintf(prov, sizeof(prov), "%.*s*", (int)NAME_MOST, note->prov);
	else
		snprintf(prov, sizeof(prov), "%.*s%u", (int)NAME_MOST, note->prov, m->p->pid);
	kept = arena_strdup(a, prov);
	p = kept ? probes_add_of(m->t, &prov_usdt, kept, f->mod, func, name) : NULL;
	if (!p)
		return err_oom(m->why);
	if (!usdt_place_is_there(p, f, note->offset)) {
		place = arena_alloc(a, sizeof(*place));
		if (!place)
			return err_oom(m->why);
		*place = (struct user_place){ .pid = is_any ? 0 : m->p->pid,
					      .file = f,
					      .offset = note->offset,
					      .semaphore = note->semaphore,
					      .next = p->place };
		place->b.noperands = usdt_operands(f->code->machine, note->args, place->b.operand);
		place->b.next = p->place ? &p->place->b : NULL;
		p->arm = ARM_USER_PLACE;
		p->def_prov = note->prov;
		p->def_name = p->name;
		p->place = place;
		p->source = "static probe (.note.stapsdt)";
	}
	rc = m->add(m->arg, p->id);
	m->found++;
	return rc < 0 ? rc : 0;
}

/* The provider's name has the process id behind it. */
static bool usdt_is_named(const struct usdt_match *m, const struct sym_note *note)
{
	char prov[NAME_MOST + 16];

	if (m->pattern)
		return text_glob(m->pattern, note->prov);
	if (usdt_is_any(m, note->prov))
		return true;
	snprintf(prov, sizeof(prov), "%.*s%u", (int)NAME_MOST, note->prov, m->p->pid);
	return text_glob(m->d->prov, prov);
}

/* The same with whatever process id: the pattern, up to its first star, is how the name begins, or goes on into the
 * id. */
static bool usdt_may_be_named(const struct usdt_match *m, const struct sym_note *note)
{
	const size_t fixed = strcspn(m->d->prov, "*?[\\"), n = strlen(note->prov);

	return !strncmp(m->d->prov, note->prov, fixed < n ? fixed : n);
}

static int usdt_match_file(struct usdt_match *m, const struct user_file *f)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < f->code->nnotes; i++) {
		const struct sym_note *note = &f->code->note[i];
		const struct sym_func *func = sym_code_at(f->code, note->addr);
		char name[NAME_MOST];

		usdt_name(note->name, name);
		if (usdt_is_named(m, note) && text_glob(m->d->func, func ? func->name : "") &&
		    (text_glob(m->d->name, name) || !strcmp(m->d->name, note->name)))
			rc = usdt_make(m, f, note, func ? func->name : "", name);
	}
	return rc;
}

/* Which name or provider is near. */
static int usdt_none(const struct usdt_match *m)
{
	const char **provs = NULL, **names = NULL;
	uint32_t nprovs = 0, nnames = 0, cap_provs = 0, cap_names = 0;
	struct err_tail near;
	bool known = false;

	for (uint32_t i = 0; i < m->p->nfiles; i++)
		for (uint32_t k = 0; k < m->p->file[i].code->nnotes; k++) {
			const struct sym_note *note = &m->p->file[i].code->note[k];
			const bool is = text_glob(m->pattern, note->prov);
			const char **to = is ? VEC_NEW(names, nnames, cap_names) : VEC_NEW(provs, nprovs, cap_provs);

			known |= is;
			if (to)
				*to = is ? note->name : note->prov;
		}
	near = known ? err_near("", m->d->name, TEXT_NAMES(names, nnames)) :
		       err_near("", m->pattern, TEXT_NAMES(provs, nprovs));
	mem_free(provs);
	mem_free(names);
	if (known)
		return err_set(m->why, TALLY_ENOPROBE, "usdt: provider \"%.60s\" of process %u has no such probe%s",
			       m->pattern, m->p->pid, near.text);
	return err_set(m->why, TALLY_ENOPROBE, "usdt: process %u has no static probes of a provider \"%.60s\"%s",
		       m->p->pid, m->pattern, near.text);
}

/* ---- one process, and what it loads later ------------------------------------------------ */

static int usdt_match_process(struct usdt_match *m)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < m->p->nfiles; i++)
		if (user_file_is(&m->p->file[i], m->d->mod) && user_code_is_ours(&m->p->file[i]))
			rc = usdt_match_file(m, &m->p->file[i]);
	return rc < 0 ? rc : m->found;
}

/* Whether the pattern of a description ends in a process id: then what stands before it, and the id. */
static bool usdt_cut_process(const struct d_probedesc *d, char pattern[static NAME_MOST], uint32_t *pid)
{
	const char *digits = user_process_of(d->prov, pid);

	if (!digits || digits - d->prov >= (ptrdiff_t)NAME_MOST)
		return false;
	snprintf(pattern, NAME_MOST, "%.*s", (int)(digits - d->prov), d->prov);
	return strcmp(pattern, "pid") != 0;
}

static int usdt_match_one(struct usdt_match *m, uint32_t pid)
{
	int rc = user_process(m->t, pid, &m->p, m->why), found;
	const char *prov = rc < 0 ? NULL : arena_strdup(&m->t->arena, m->d->prov);

	if (rc < 0)
		return rc;
	if (!prov)
		return err_oom(m->why);
	found = usdt_match_process(m);
	if (found < 0)
		return found;
	if (!found && !user_is_pattern(m->pattern))
		found = usdt_none(m);
	rc = user_may_come(m->p, m->d) ?
		     user_wait_add(m->t, &prov_usdt, prov, m->p, m->d, USDT_KINDS, found, m->add, m->arg, m->why) :
		     0;
	return rc < 0 ? rc : found;
}

static int usdt_match_later(struct probes *t, const struct user_wait *w, const struct user_file *f,
			    int (*add)(void *arg, uint32_t id), void *arg, struct err *why)
{
	struct user_process p = { .pid = w->pid };
	struct usdt_match m = {
		.t = t, .p = &p, .d = &w->d, .add = add, .arg = arg, .why = why, .may_be_any = !w->pid
	};
	char pattern[NAME_MOST];
	uint32_t pid;

	if (w->pid && !usdt_cut_process(&w->d, pattern, &pid))
		return 0;
	m.pattern = w->pid ? pattern : NULL;
	return usdt_match_file(&m, f);
}

/* ---- all processes -------------------------------------------------------------------------- */

/* The files that processes map: which of them have a probe that is meant. */
struct usdt_search {
	const struct usdt_match *m;
	struct map files; /* by inode and path: usdt_has, usdt_has_not */
	uint32_t pid;
	bool has, failed;
};
static const char usdt_has, usdt_has_not;

static bool usdt_file_has(const struct usdt_search *s, const char *path)
{
	struct user_file f = { .fd = -1, .path = path };
	bool has = false;

	if (!user_file_open(&f, s->pid))
		return false;
	for (uint32_t i = 0; i < f.code->nnotes && !has; i++)
		has = usdt_may_be_named(s->m, &f.code->note[i]);
	user_file_close(&f);
	return has;
}

static void usdt_see_mapping(void *arg, const struct k_task *t)
{
	struct usdt_search *s = arg;
	struct buf key = { 0 };
	void **known;

	if (t->path[0] != '/' || s->failed)
		return;
	buf_printf(&key, "%llu %s", (unsigned long long)t->inode, t->path);
	known = key.failed ? NULL : map_at(&s->files, key.p, key.n);
	s->failed = !known;
	if (known && !*known)
		*known = (void *)(uintptr_t)(usdt_file_has(s, t->path) ? &usdt_has : &usdt_has_not);
	s->has |= known && *known == &usdt_has;
	buf_free(&key);
}

static bool usdt_is_ours_alone(const char *prov)
{
	const struct provider *p;

	for (uint32_t i = 0; (p = provider_at(i)); i++)
		if (text_glob(prov, p->name))
			return false;
	return *prov && user_is_pattern(prov);
}

static int usdt_match_all(struct usdt_match *m)
{
	const struct prov_opts *o = &m->t->opts;
	struct usdt_search s = { .m = m };
	uint32_t *pid = NULL, n = 0;
	int rc = o->process_ready ? o->process_ready(o->process_arg, 0, m->why) : 0;

	if (rc < 0)
		return rc;
	if ((rc = k_task_pids(&pid, &n)) < 0)
		return rc == -TALLY_ENOMEM ? err_oom(m->why) : err_set(m->why, TALLY_EIO, "cannot list the processes");
	for (uint32_t i = 0; i < n && rc >= 0 && !s.failed; i++) {
		s.pid = pid[i];
		s.has = false;
		/* One that has ended meanwhile, or is another user's, has nothing to be probed. */
		if (k_task_maps(pid[i], usdt_see_mapping, &s) == 0 && s.has &&
		    user_process(m->t, pid[i], &m->p, m->why) == 0)
			rc = usdt_match_process(m);
	}
	mem_free(pid);
	map_free(&s.files);
	return s.failed ? err_oom(m->why) : rc < 0 ? rc : m->found;
}

/* Programs that begin later, of files that no process maps now. */
static int usdt_wait_for_any(const struct usdt_match *m, int found)
{
	static const struct user_process anybody;
	const char *prov = arena_strdup(&m->t->arena, m->d->prov);

	if (!prov)
		return err_oom(m->why);
	return m->d->prov[strlen(m->d->prov) - 1] == '*' ? user_wait_add(m->t, &prov_usdt, prov, &anybody, m->d,
									 USDT_KINDS, found, m->add, m->arg, m->why) :
							   0;
}

static int usdt_match(struct probes *t, const struct d_probedesc *d, int (*add)(void *arg, uint32_t id), void *arg,
		      struct err *why)
{
	struct usdt_match m = { .t = t, .d = d, .add = add, .arg = arg, .why = why };
	char pattern[NAME_MOST];
	uint32_t pid;
	int rc, found;

	if (usdt_cut_process(d, pattern, &pid)) {
		m.pattern = pattern;
		rc = user_elsewhere(t, "usdt", why);
		return rc < 0 ? rc : usdt_match_one(&m, pid);
	}
	if (user_process_of(d->prov, &pid) || !usdt_is_ours_alone(d->prov) || user_elsewhere(t, "usdt", why) < 0)
		return 0;
	m.may_be_any = t->opts.waits != WAITS_NONE;
	found = usdt_match_all(&m);
	if (found == 0)
		found = err_set(
			why, TALLY_ENOPROBE,
			"usdt: no process has static probes of a provider \"%.60s\" now, and no provider is called so",
			d->prov);
	rc = usdt_wait_for_any(&m, found);
	return rc < 0 ? rc : found;
}

static int usdt_offer(struct probes *t, struct err *e)
{
	(void)t, (void)e; /* they are of a process that somebody names */
	return 0;
}

static int usdt_why_none(const struct probes *t, const struct d_probedesc *d, struct err *why)
{
	int rc = user_elsewhere(t, "usdt", why);

	(void)d;
	return rc < 0 ?
		       rc :
		       err_set(why, TALLY_ENOPROBE,
			       "usdt: the provider's name is the program's, with the process id behind it: myapp1234:::request, or "
			       "myapp$target with -c or -p");
}

const struct provider prov_usdt = {
	.name = "usdt",
	.help = "static probes of programs: PROVIDERpid:::NAME",
	.is_long = true,
	.is_of_process = true,
	PROV_EVOLVING(DEP_ISA),
	.offer = usdt_offer,
	.why_none = usdt_why_none,
	.args_of = usdt_args,
	.match = usdt_match,
	.match_file = usdt_match_later,
};
