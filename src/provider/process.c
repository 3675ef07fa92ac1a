/*
 * process.c: the code of a process, for providers of user code.
 *
 * A process is looked at once, when it is first named: which files it maps executable, and what functions and static
 * probes they have.  The files stay open, since places in them are armed later by their descriptors: nothing goes by a
 * name that may lead elsewhere by then.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "provider/provider_int.h"

#define FILES_MOST 4096u

const char *user_process_of(const char *prov, uint32_t *pid)
{
	size_t n = strlen(prov), digits = n;
	uint64_t v;

	while (digits > 0 && prov[digits - 1] >= '0' && prov[digits - 1] <= '9')
		digits--;
	if (digits == n || digits == 0 || n - digits > 10 || !text_u64(prov + digits, &v) || v == 0 || v > INT32_MAX)
		return NULL;
	*pid = (uint32_t)v;
	return prov + digits;
}

/* ---- its files ----------------------------------------------------------------------- */

struct files_seen {
	struct user_process *p;
	struct arena *a;
	uint32_t cap;
	char program[4096];
};

static void process_see_mapping(void *arg, const struct k_task *t)
{
	struct files_seen *seen = arg;
	struct user_process *p = seen->p;
	const char *slash = strrchr(t->path, '/');
	struct user_file *f;

	if (t->path[0] != '/' || p->nfiles == FILES_MOST)
		return;
	for (uint32_t i = 0; i < p->nfiles; i++)
		if (p->file[i].inode == t->inode && !strcmp(p->file[i].path, t->path))
			return;
	f = VEC_NEW(p->file, p->nfiles, seen->cap);
	if (!f)
		return;
	*f = (struct user_file){ .inode = t->inode,
				 .fd = -1,
				 .path = arena_strdup(seen->a, t->path),
				 .mod = arena_strndup(seen->a, slash + 1, strcspn(slash + 1, " ")),
				 .is_program = !strcmp(t->path, seen->program) };
}

bool user_file_open(struct user_file *f, uint32_t pid)
{
	f->fd = k_mapped_file(pid, f->path);
	if (f->fd >= 0 && sym_code_open(&f->code, f->fd) < 0) {
		close(f->fd);
		f->fd = -1;
	}
	return f->fd >= 0 && k_file_id(f->fd, &f->id);
}

void user_file_close(struct user_file *f)
{
	sym_code_close(f->code);
	if (f->fd >= 0)
		close(f->fd);
	f->code = NULL;
	f->fd = -1;
}

static void process_open_files(struct user_process *p)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < p->nfiles; i++) {
		struct user_file *f = &p->file[i];

		if (user_file_open(f, p->pid))
			p->file[kept++] = *f;
	}
	p->nfiles = kept;
}

static int process_refused(uint32_t pid, int rc, struct err *why)
{
	if (rc == -TALLY_EPERM)
		return k_task_refused(pid, why);
	if (rc == -TALLY_ENOMEM)
		return err_oom(why);
	return err_set(why, TALLY_EINVAL, "there is no process %u", pid);
}

int user_process(struct probes *t, uint32_t pid, struct user_process **ret, struct err *why)
{
	const struct prov_opts *o = &t->opts;
	struct user_processes *all = &t->processes;
	struct files_seen seen = { .a = &t->arena };
	struct user_process *p, **slot;
	int rc;

	for (uint32_t i = 0; i < all->n; i++)
		if (all->v[i]->pid == pid) {
			*ret = all->v[i];
			return 0;
		}
	if (o->process_ready && (rc = o->process_ready(o->process_arg, pid, why)) < 0)
		return rc;
	p = arena_alloc(seen.a, sizeof(*p));
	slot = p ? VEC_NEW(all->v, all->n, all->cap) : NULL;
	if (!slot)
		return err_oom(why);
	*slot = p;
	p->pid = pid;
	seen.p = p;
	if (!k_task_program(pid, seen.program, sizeof(seen.program)))
		*seen.program = '\0';
	rc = k_task_maps(pid, process_see_mapping, &seen);
	if (rc >= 0 && !k_task_reachable(pid))
		rc = -TALLY_EPERM;
	if (rc < 0) {
		user_process_close(p);
		all->n--;
		return process_refused(pid, rc, why);
	}
	process_open_files(p);
	if (seen.a->failed) {
		user_process_close(p);
		all->n--;
		return err_oom(why);
	}
	*ret = p;
	return 0;
}

void user_process_close(struct user_process *p)
{
	for (uint32_t i = 0; i < p->nfiles; i++)
		user_file_close(&p->file[i]);
	for (uint32_t i = 0; i < p->nlate; i++)
		user_file_close(p->late[i]);
	mem_free(p->file);
	mem_free(p->late);
}

/* ---- which of them --------------------------------------------------------------------- */

bool user_file_is(const struct user_file *f, const char *mod)
{
	const char *so = strstr(f->mod, ".so");
	char stem[256];

	if (text_glob(mod, f->mod) || !strcmp(mod, f->path) || (f->is_program && text_glob(mod, "a.out")))
		return true;
	if (!so || (size_t)(so - f->mod) >= sizeof(stem))
		return false;
	snprintf(stem, sizeof(stem), "%.*s", (int)(so - f->mod), f->mod);
	return text_glob(mod, stem);
}

bool user_is_pattern(const char *s)
{
	return !*s || s[strcspn(s, "*?[\\")] != 0;
}

int user_no_module(const struct user_process *p, const char *prov, const char *mod, struct err *why)
{
	const char **names = mem_alloc(p->nfiles * sizeof(*names));
	struct err_tail near;

	if (!names)
		return err_oom(why);
	for (uint32_t i = 0; i < p->nfiles; i++)
		names[i] = p->file[i].mod;
	near = err_near("", mod, TEXT_NAMES(names, p->nfiles));
	mem_free(names);
	return err_set(why, TALLY_ENOPROBE, "%s: process %u maps no file \"%.100s\"%s", prov, p->pid, mod,
		       *near.text ? near.text : "; its program is a.out; -Z waits for a library that is loaded later");
}

/* ---- the machine's kind of programs ---------------------------------------------------- */

bool user_code_is_ours(const struct user_file *f)
{
	const struct bpf_arch *a = k_arch();

	return a && a->regs && f->code &&
	       ((f->code->machine == SYM_X86_64 && !strcmp(a->name, "x86_64")) ||
		(f->code->machine == SYM_AARCH64 && !strcmp(a->name, "aarch64")));
}

int user_not_ours(const struct user_process *p, const struct user_file *f, struct err *why)
{
	return err_set(why, TALLY_ENOTSUP,
		       "%.100s of process %u is code of another machine, "
		       "or of 32 bits: only 64-bit code of this machine is probed",
		       f->mod, p->pid);
}

int user_elsewhere(const struct probes *t, const char *prov, struct err *why)
{
	const struct prov_opts *o = &t->opts;

	if ((o->records && !o->lists) || o->transport || o->vm)
		return err_set(why, TALLY_ENOPROBE,
			       "%s: its probes fire in processes of this machine: only without --on", prov);
	return 0;
}
