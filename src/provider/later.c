/*
 * later.c: probes of files that a process maps when it is being traced already.
 *
 * A description with a pattern for its module, or with the name of a file that is not there yet, waits.  Clauses name
 * their probes by number when they are compiled, so a description that waits has a probe of each kind that stands in
 * for those to come: it never fires, and its clauses are theirs.  When the process has loaded a library, its new files
 * are matched with what waits.
 *
 * A file is new if its path and inode are none of those that were looked at.  A library that is unloaded and loaded
 * again is the same file, whose places are armed still.
 *
 * A description of whichever process waits for programs that begin (kernel/program.c): each is looked at before its
 * process runs it.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "provider/provider_int.h"

#define LATE_MOST 4096u

static const char *const later_kinds[] = { "entry", "return", "place" };

bool user_may_come(const struct user_process *p, const struct d_probedesc *d)
{
	if (user_is_pattern(d->mod))
		return true;
	for (uint32_t i = 0; i < p->nfiles; i++)
		if (user_file_is(&p->file[i], d->mod))
			return false;
	return strcmp(d->mod, "a.out") != 0;
}

/* What a provider definition calls the probes that come, if they have one name. */
static void later_define(struct arena *a, struct probe *in, const struct d_probedesc *d)
{
	uint32_t pid;
	const char *digits = user_process_of(d->prov, &pid);

	const size_t fixed = strcspn(d->prov, "*?[\\"); /* myapp*: whichever process */

	if (user_is_pattern(d->name) || (user_is_pattern(d->prov) ? strcmp(d->prov + fixed, "*") != 0 : !digits))
		return;
	in->def_prov = arena_strndup(a, d->prov, digits ? (size_t)(digits - d->prov) : fixed);
	in->def_name = d->name;
}

int user_wait_add(struct probes *t, const struct provider *prov, const char *prov_name, const struct user_process *p,
		  const struct d_probedesc *d, uint32_t kinds, int found, int (*add)(void *arg, uint32_t id), void *arg,
		  struct err *why)
{
	const enum prov_waits waits = t->opts.waits;
	struct arena *a = &t->arena;
	struct user_processes *all = &t->processes;
	struct user_wait *w;
	/* No file's name has a slash: no probe is called so */
	const char *mod = arena_text(a, "/%s", d->mod), *func = arena_text(a, "%s:%s", d->func, d->name);

	if ((found < 0 && found != -TALLY_ENOPROBE) || waits == WAITS_NONE || (waits == WAITS_MATCHED && found <= 0))
		return 0;
	for (const struct user_wait *old = all->wait; old; old = old->next)
		if (old->prov == prov && old->pid == p->pid && !strcmp(old->d.mod, d->mod) &&
		    !strcmp(old->d.func, d->func) && !strcmp(old->d.name, d->name) && !strcmp(old->d.prov, d->prov)) {
			int rc = 0;

			for (uint32_t i = 0; i < COUNT(later_kinds) && rc >= 0; i++)
				if (old->stand_in[i])
					rc = add(arg, old->stand_in[i]);
			return rc < 0 ? rc : 0;
		}
	w = arena_alloc(a, sizeof(*w));
	if (!w || !mod || !func)
		return err_oom(why);
	*w = (struct user_wait){ .next = all->wait,
				 .prov = prov,
				 .pid = p->pid,
				 .prov_name = prov_name,
				 .d = { arena_strdup(a, d->prov), arena_strdup(a, d->mod), arena_strdup(a, d->func),
					arena_strdup(a, d->name) } };
	all->wait = w;
	for (uint32_t i = 0; i < COUNT(later_kinds); i++) {
		struct probe *in;
		int rc;

		if (!(kinds & 1u << i))
			continue;
		in = probes_add_of(t, prov, prov_name, mod, func, later_kinds[i]);
		if (!in)
			return err_oom(why);
		in->arm = (uint8_t)(ARM_USER_ENTRY + i);
		in->is_later = true;
		later_define(a, in, &w->d);
		w->stand_in[i] = in->id;
		if ((rc = add(arg, in->id)) < 0)
			return rc;
	}
	return a->failed ? err_oom(why) : 0;
}

const struct user_wait *probes_waits(const struct probes *t)
{
	return t->processes.wait;
}

static struct user_process *later_process(struct probes *t, uint32_t pid)
{
	struct user_processes *all = &t->processes;

	for (uint32_t i = 0; i < all->n; i++)
		if (all->v[i]->pid == pid)
			return all->v[i];
	return NULL;
}

bool probes_loader(struct probes *t, uint32_t pid, const struct user_file **file, uint64_t *offset)
{
	const struct user_process *p = later_process(t, pid);

	for (uint32_t i = 0; p && i < p->nfiles; i++)
		for (uint32_t k = 0; user_code_is_ours(&p->file[i]) && k < p->file[i].code->nfuncs; k++)
			if (!strcmp(p->file[i].code->func[k].name, "_dl_debug_state")) { /* glibc's and musl's r_brk */
				*file = &p->file[i];
				*offset = p->file[i].code->func[k].offset;
				return true;
			}
	return false;
}

/* ---- more files ------------------------------------------------------------------------ */

struct later_look {
	struct probes *t;
	struct user_process *p;
	int rc;
};

static bool later_is_known(const struct user_process *p, const struct k_task *t)
{
	for (uint32_t i = 0; i < p->nfiles; i++)
		if (p->file[i].inode == t->inode && !strcmp(p->file[i].path, t->path))
			return true;
	for (uint32_t i = 0; i < p->nlate; i++)
		if (p->late[i]->inode == t->inode && !strcmp(p->late[i]->path, t->path))
			return true;
	return false;
}

static void later_see_mapping(void *arg, const struct k_task *t)
{
	struct later_look *look = arg;
	struct user_process *p = look->p;
	struct arena *a = &look->t->arena;
	const char *slash = strrchr(t->path, '/');
	struct user_file **slot, *f;

	if (t->path[0] != '/' || p->nlate == LATE_MOST || look->rc < 0 || later_is_known(p, t))
		return;
	f = arena_alloc(a, sizeof(*f));
	slot = f ? VEC_NEW(p->late, p->nlate, p->cap_late) : NULL;
	if (!slot) {
		look->rc = -TALLY_ENOMEM;
		return;
	}
	*slot = f;
	*f = (struct user_file){ .inode = t->inode,
				 .fd = -1,
				 .path = arena_strdup(a, t->path),
				 .mod = arena_strndup(a, slash + 1, strcspn(slash + 1, " ")) };
	if (a->failed)
		look->rc = -TALLY_ENOMEM;
}

struct later_found {
	const struct user_wait *w;
	const struct user_file *file;
	int (*found)(void *arg, const struct user_wait *w, const struct user_file *f, uint32_t id);
	void *arg;
};

static int later_add(void *arg, uint32_t id)
{
	const struct later_found *f = arg;

	return f->found(f->arg, f->w, f->file, id);
}

/* The descriptions of that process that mean the file. */
static int later_match_file(struct probes *t, uint32_t pid, const struct user_file *f, struct later_found *to,
			    struct err *why)
{
	int rc = 0;

	to->file = f;
	for (const struct user_wait *w = probes_waits(t); w && rc >= 0; w = w->next) {
		to->w = w;
		if (w->pid == pid && user_file_is(f, w->d.mod))
			rc = w->prov->match_file(t, w, f, later_add, to, why);
	}
	return rc < 0 ? rc : 0;
}

int probes_look_again(struct probes *t, uint32_t pid, uint32_t in,
		      int (*found)(void *arg, const struct user_wait *w, const struct user_file *f, uint32_t id),
		      void *arg, struct err *why)
{
	struct later_look look = { .t = t, .p = later_process(t, pid) };
	uint32_t from = look.p ? look.p->nlate : 0;
	int rc;

	if (!look.p)
		return 0;
	rc = k_task_maps(in, later_see_mapping, &look);
	if (rc == -TALLY_ENOMEM || look.rc < 0)
		return err_oom(why);
	for (uint32_t i = from; i < look.p->nlate; i++) {
		struct user_file *f = look.p->late[i];

		if (user_file_open(f, in) && user_code_is_ours(f) &&
		    (rc = later_match_file(t, pid, f, &(struct later_found){ .found = found, .arg = arg }, why)) < 0)
			return rc;
	}
	return 0;
}

/* ---- programs that begin ----------------------------------------------------------------- */

/* The process that stands for whichever: it keeps their files. */
static struct user_process *later_anybody(struct probes *t)
{
	struct user_processes *all = &t->processes;
	struct user_process *p = later_process(t, 0), **slot;

	if (p || !(p = arena_alloc(&t->arena, sizeof(*p))))
		return p;
	slot = VEC_NEW(all->v, all->n, all->cap);
	if (slot)
		*slot = p;
	return slot ? p : NULL;
}

/* The file of that id among those of all processes; NULL: it is not known. */
static struct user_file *later_known(struct probes *t, const struct user_file *f)
{
	const struct user_processes *all = &t->processes;

	for (uint32_t i = 0; i < all->n; i++) {
		const struct user_process *p = all->v[i];

		for (uint32_t k = 0; k < p->nfiles; k++)
			if (user_file_is_same(&p->file[k], f))
				return &p->file[k];
		for (uint32_t k = 0; k < p->nlate; k++)
			if (user_file_is_same(p->late[k], f))
				return p->late[k];
	}
	return NULL;
}

/* Keeps a copy of it; NULL: no memory. */
static struct user_file *later_keep(struct probes *t, const struct user_file *f)
{
	struct user_process *p = later_anybody(t);
	struct user_file *kept = arena_alloc(&t->arena, sizeof(*kept)),
			 **slot = p && kept ? VEC_NEW(p->late, p->nlate, p->cap_late) : NULL;

	if (!slot)
		return NULL;
	*kept = *f;
	*slot = kept;
	return kept;
}

int probes_look_at(struct probes *t, int fd, const char *path, void (*outdated)(void *arg, const struct user_file *f),
		   int (*found)(void *arg, const struct user_wait *w, const struct user_file *f, uint32_t id),
		   void *arg, struct err *why)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct user_file f = { .fd = fd, .is_program = true, .path = arena_strdup(&t->arena, path) }, *known;

	f.mod = arena_strndup(&t->arena, name, strcspn(name, " "));
	(void)k_file_id(fd, &f.id);
	known = later_known(t, &f);
	if (known && known->id.size == f.id.size && known->id.mtime_ns == f.id.mtime_ns) {
		close(fd);
		return 0;
	}
	for (; known; known = later_known(t, &f)) {
		outdated(arg, known);
		known->id = (struct k_file_id){ 0 };
	}
	known = f.path && f.mod ? later_keep(t, &f) : NULL;
	if (!known) {
		close(fd);
		return err_oom(why);
	}
	if (sym_code_open(&known->code, fd) < 0 || !user_code_is_ours(known))
		return 0;
	return later_match_file(t, 0, known, &(struct later_found){ .found = found, .arg = arg }, why);
}

bool probes_wait_for(struct probes *t, int fd)
{
	struct user_file f = { .fd = fd };
	bool is_meant = k_file_id(fd, &f.id) && later_known(t, &f);

	if (is_meant)
		return true;
	if (sym_code_open(&f.code, fd) == 0 && user_code_is_ours(&f))
		for (const struct user_wait *w = probes_waits(t); w && !is_meant; w = w->next)
			for (uint32_t i = 0; i < f.code->nnotes && !w->pid && !is_meant; i++)
				is_meant = text_glob(w->d.prov, f.code->note[i].prov);
	sym_code_close(f.code);
	f.code = NULL;
	f.fd = -1;
	if (is_meant)
		(void)later_keep(t, &f); /* it may be overwritten, and is meant again then */
	return is_meant;
}
