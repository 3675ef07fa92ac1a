/*
 * later.c: probes of libraries that a process loads while it is traced.
 *
 * The process is held where its loader has mapped a library (kernel/hold.c).  The provider finds what descriptions wait
 * for in the new file.  Each place gets a row in the table of its class's program, with the clauses of the descriptions
 * that it matches; then it is armed, and the process goes on.  So the program in the kernel stays the one that was
 * loaded at the start, and the first call is seen.
 *
 * The same is done with programs that begin (kernel/program.c), where descriptions are of whichever process.
 */
#include <stdlib.h>
#include <string.h>

#include "session/session_int.h"

/* ---- the hold ------------------------------------------------------------------------ */

static bool later_is_first_of_process(const struct tally_trace *t, const struct user_wait *w)
{
	for (const struct user_wait *before = probes_waits(t->probes); before != w; before = before->next)
		if (before->pid == w->pid)
			return false;
	return true;
}

static bool later_wants(void *arg, int fd)
{
	struct tally_trace *t = arg;

	return probes_wait_for(t->probes, fd);
}

/* Descriptions of whichever process wait for programs that begin. Where the kernel does not tell, those that are known
 * fire still. */
static int later_watch_programs(struct tally_trace *t)
{
	struct err e = { 0 };
	bool any = false;
	int rc;

	for (const struct user_wait *w = probes_waits(t->probes); w; w = w->next)
		any |= !w->pid;
	rc = any ? k_programs_watch(t->eng->k, later_wants, t, &e) : 0;
	if (rc == -TALLY_EPERM || rc == -TALLY_ENOTSUP) {
		trace_note(t, "only programs that a process runs already are probed: %s", e.text);
		rc = 0;
	}
	return rc < 0 ? trace_fail(t, -rc, "failed to wait for programs that begin: %s", e.text) : 0;
}

int later_hold(struct tally_trace *t)
{
	int rc = t->eng->k ? later_watch_programs(t) : 0;

	for (const struct user_wait *w = t->eng->k ? probes_waits(t->probes) : NULL; w && rc >= 0; w = w->next) {
		const struct user_file *loader;
		struct k_places at = { .n = 1, .pid = t->opt.v[OPT_followforks] ? 0 : w->pid };
		struct k_place *place;
		uint64_t offset;

		if (!later_is_first_of_process(t, w) || !probes_loader(t->probes, w->pid, &loader, &offset))
			continue;
		place = arena_alloc(&t->img->arena, sizeof(*place));
		if (!place)
			return trace_nomem(t);
		place->offset = offset;
		at.fd = loader->fd;
		at.name = loader->path;
		at.place = place;
		rc = k_hold_at(t->eng->k, w->pid, &at, &t->why);
	}
	return rc < 0 ? trace_fail(t, -rc, "failed to follow the libraries that a process loads") : 0;
}

/* ---- what came ------------------------------------------------------------------------- */

struct later_probe {
	const struct user_wait *wait;
	const struct user_file *file;
	uint32_t id;
};
struct later_found {
	struct later_probe *v;
	uint32_t n, cap;
	struct k_run *k;
};

static int later_found(void *arg, const struct user_wait *w, const struct user_file *f, uint32_t id)
{
	struct later_found *all = arg;
	struct later_probe *to = VEC_NEW(all->v, all->n, all->cap);

	if (!to)
		return -TALLY_ENOMEM;
	*to = (struct later_probe){ w, f, id };
	return 0;
}

static int later_compare(const void *a, const void *b)
{
	const struct later_probe *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* One probe, with all descriptions that it matches. */
struct later_row {
	const struct tally_trace *t;
	const struct later_probe *of;
	uint32_t n;
	uint8_t kind; /* of user_wait.stand_in[] */
};

/* Whether args[], as the clause has compiled them, are those of the probe: defined alike, or of the same size and
 * sign. */
static bool later_has_args(const struct tally_trace *t, const struct d_clause *c, const struct probe *p)
{
	bool defined = false, alike = true;

	for (uint32_t k = 0; k < c->nprobes; k++) {
		const struct probe *other = probes_get(t->probes, c->probes[k]);

		defined |= other->def_prov && p->def_prov && !strcmp(other->def_prov, p->def_prov) &&
			   !strcmp(other->def_name, p->def_name);
		for (uint32_t i = 0; i < 32 && !other->is_later; i++)
			alike &= !(c->args_used >> i & 1) || probe_args(other, i) == probe_args(p, i);
	}
	return c->args_defined ? defined : alike;
}

static bool later_is_meant(const struct later_row *r, const struct d_clause *c)
{
	for (uint32_t i = 0; i < r->n; i++)
		for (uint32_t k = 0; k < c->nprobes; k++)
			if (c->probes[k] == r->of[i].wait->stand_in[r->kind])
				return true;
	return false;
}

static bool later_fires(void *arg, uint32_t clause)
{
	const struct later_row *r = arg;
	const struct d_clause *c = &r->t->prog->clause[clause];

	return later_is_meant(r, c) && later_has_args(r->t, c, probes_get(r->t->probes, r->of->id));
}

static bool later_is_left_out(struct later_row *r)
{
	bool out = false;

	for (uint32_t i = 0; i < r->t->prog->nclauses && !out; i++)
		out = later_is_meant(r, &r->t->prog->clause[i]) && !later_fires(r, i);
	return out;
}

/* Rows for its places in that file, those that the kernel refuses or the others, and the places for the kernel. */
static int later_add_rows(struct tally_trace *t, uint32_t rows, struct later_row *r, bool refused, struct k_places *to)
{
	const struct probe *p = probes_get(t->probes, r->of->id);
	const struct maps maps = t->eng->ops->maps(t->eng);
	const struct bpf_probe b = {
		.id = p->id, .prov = p->prov_name, .mod = p->mod, .func = p->func, .name = p->name, .pid = p->place->pid
	};

	for (const struct user_place *at = p->place; at; at = at->next) {
		struct k_place *place = (struct k_place *)(uintptr_t)&to->place[to->n]; /* ours */
		int rc;

		if (at->file != r->of->file || at->refused != refused)
			continue;
		rc = bpf_row_add(t->img, rows, maps.ops->memory(maps.maps, t->img->rows[rows].map), &b, &at->b,
				 later_fires, r);
		if (rc == -TALLY_EEND)
			t->later_skipped++;
		else if (rc < 0)
			return rc;
		else
			*place = (struct k_place){ at->offset, at->semaphore, (uint32_t)rc, true }, to->n++;
		t->later_differs += later_is_left_out(r);
	}
	return 0;
}

static uint32_t later_count_places(const struct tally_trace *t, const struct later_found *all)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < all->n; i++)
		for (const struct user_place *at = probes_get(t->probes, all->v[i].id)->place; at; at = at->next)
			n++;
	return n;
}

/* What came in that file, of one class. */
static int later_arm_file(struct tally_trace *t, const struct later_found *all, const struct user_file *f,
			  uint32_t rows)
{
	const uint8_t kind = (uint8_t)(t->img->rows[rows].cls - IMG_USER_ENTRY);
	struct k_places to = { .pid = t->opt.v[OPT_followforks] ? 0 : all->v->wait->pid,
			       .fd = f->fd,
			       .name = f->path,
			       .at_return = t->img->rows[rows].cls == IMG_USER_RETURN };
	uint32_t prog = 0;
	int rc = 0;

	to.place = arena_alloc(&t->img->arena, (later_count_places(t, all) + 1) * sizeof(*to.place));
	if (!to.place)
		return -TALLY_ENOMEM;
	for (int refused = 1; refused >= 0; refused--) {
		for (uint32_t i = 0, n; rc >= 0 && i < all->n; i += n) {
			struct later_row r = { .t = t, .of = &all->v[i], .kind = kind };

			for (n = 0; i + n < all->n && all->v[i + n].id == all->v[i].id; n++)
				;
			r.n = n;
			if (all->v[i].file == f && probes_get(t->probes, all->v[i].id)->arm == ARM_USER_ENTRY + kind)
				rc = later_add_rows(t, rows, &r, refused, &to);
		}
		to.nrefused = refused ? to.n : to.nrefused;
	}
	while (t->img->prog[prog].cls != t->img->rows[rows].cls)
		prog++;
	return rc < 0 || !to.n ? rc : t->eng->ops->places(t->eng, prog, &to, &t->why);
}

static int later_arm(struct tally_trace *t, struct later_found *all)
{
	int rc = 0;

	if (all->n)
		qsort(all->v, all->n, sizeof(*all->v), later_compare);
	for (uint32_t i = 0; rc >= 0 && i < all->n; i++) {
		bool first = true;

		for (uint32_t k = 0; k < i && first; k++)
			first = all->v[k].file != all->v[i].file;
		for (uint32_t rows = 0; rc >= 0 && first && rows < t->img->nrows; rows++)
			rc = later_arm_file(t, all, all->v[i].file, rows);
	}
	return rc < 0 ? rc : k_enable_places(t->eng->k, &t->why);
}

/* The process has loaded something: `pid`, which is `of` or was forked by it. */
static int later_look(struct tally_trace *t, uint32_t pid, uint32_t of)
{
	const uint32_t refused = k_places_refused(t->eng->k);
	struct later_found all = { 0 };
	int rc = probes_look_again(t->probes, of, pid, later_found, &all, &t->why);

	if (rc >= 0 && all.n)
		rc = later_arm(t, &all);
	mem_free(all.v);
	if (rc >= 0 && k_places_refused(t->eng->k) > refused)
		trace_note(t, "%u probes of a library left out: the kernel can't place a probe on such an instruction",
			   k_places_refused(t->eng->k) - refused);
	return rc;
}

/* A file was overwritten: what is armed there would be put into other code. */
static void later_outdated(void *arg, const struct user_file *f)
{
	const struct later_found *all = arg;

	k_detach_places(all->k, f->fd);
}

static int later_look_at(struct tally_trace *t, const struct k_program *p)
{
	struct later_found all = { .k = t->eng->k };
	int rc = p->fd < 0 ? 0 : probes_look_at(t->probes, p->fd, p->path, later_outdated, later_found, &all, &t->why);

	if (rc >= 0 && all.n)
		rc = later_arm(t, &all);
	mem_free(all.v);
	return rc;
}

int later_turn(struct tally_trace *t)
{
	struct k_program program;
	uint32_t pid, of;

	if (!t->eng->k || !probes_waits(t->probes))
		return 0;

	while (k_program_begins(t->eng->k, &program)) {
		const int rc = later_look_at(t, &program);

		k_program_go_on(t->eng->k, &program);
		if (rc < 0)
			return trace_fail(t, -rc, "failed to probe %s", program.path);
	}

	while (k_held(t->eng->k, &pid, &of)) {
		const int rc = later_look(t, pid, of);

		k_held_go_on(t->eng->k, pid);
		if (rc < 0)
			return trace_fail(t, -rc, "failed to probe the libraries that process %u loaded", pid);
	}
	return 0;
}

void later_report(struct tally_trace *t)
{
	if (t->later_differs)
		trace_note(t,
			   "libraries that were loaded later have other args[] "
			   "than clauses were compiled for; places left out: %u",
			   t->later_differs);
	if (t->later_skipped)
		trace_note(t, "%u probes of libraries that were loaded later left out: there is room for %u of a kind",
			   t->later_skipped, ROWS_LATER);
}
