/*
 * unwind.c: the tables by which programs walk user stacks (-x ustackunwind).
 *
 * Programs in the kernel find frames in maps (bpf.h, struct img_unwind_space); here they are filled.  A file's rows
 * (symbol/unwind.h) are put there once, one file's behind the other's, and stay until the end: a chunk's numbers are
 * those of the rows' addresses, moved so that each file's begin where the last one's end.  A process is a list of
 * ranges, each a mapping or the part of it that a chunk covers.  It is made from /proc/PID/maps, and made anew when the
 * kernel tells that something was mapped or unmapped.
 *
 * Who is looked at: the command of -c and the process of -p before they run; others when a program asks for them, which
 * finds none when it fires there first; what those fork, at once.  A process's ranges hold for the generation of
 * mappings that they were read in, or older ones: programs compare.
 *
 * Maps are written as memory: bpf(2) calls would keep events of this CPU from firing.  A space is 0 while it is
 * written.
 *
 * Bounded: rows by -x unwindsize, processes and their ranges by the maps, work in one turn by LOOKS_PER_TURN. What
 * found no room is told at the end. Refuses: processes of 32 bits; kernels without types or without the tracepoints
 * that tell of mappings that go.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/session_int.h"
#include "symbol/unwind.h"

#define LOOKS_PER_TURN 64
#define CHUNK_ROWS (IMG_UNWIND_CHUNK - 1)
#define CHUNK_SPAN UINT64_C(0x7fffffff) /* of its numbers */

/* The rows of a file: each piece lies in one chunk. */
struct unwind_file {
	struct sym_cfi cfi; /* without rows once they are in the maps */
	struct unwind_piece {
		uint64_t addr;
		struct img_unwind_range range;
	} * piece;
	uint32_t npieces;
	uint32_t without; /* chunk of code of which there are no rows */
};

struct unwind_process {
	uint32_t pid; /* 0: the space is free */
	bool dead, old;
};

struct unwind {
	struct maps maps;
	int processes; /* the map */
	struct img_unwind_space *space;
	uint64_t (*chunk)[IMG_UNWIND_CHUNK];
	struct img_unwind_rule *rule;
	struct img_unwind_wanted *wanted;

	uint32_t nchunks, used, nrows; /* chunks that there are, and were begun; rows of the last one */
	uint64_t top;                  /* number in it that is free */
	uint32_t nrules;
	struct map rules, files;

	struct unwind_process process[IMG_UNWIND_PROCESSES_N];
	uint64_t changes;
	bool any_old;
	/* what found no room */
	bool rows_full, rules_full, processes_full, ranges_full, late;
};

/* ---- what is asked for -------------------------------------------------------------------- */

static enum sym_machine unwind_machine(void)
{
	const struct bpf_arch *a = k_arch();

	return a == &bpf_arch_x86_64 ? SYM_X86_64 : a == &bpf_arch_aarch64 ? SYM_AARCH64 : SYM_OTHER_MACHINE;
}

/* Return addresses may carry a signature above the address: the bits that addresses have are those below the top of our
 * stack. */
static uint64_t unwind_pc_bits(void)
{
	int here;
	uint64_t bits = (uintptr_t)&here;

	if (unwind_machine() != SYM_AARCH64)
		return 0;
	for (unsigned shift = 1; shift < 64; shift *= 2)
		bits |= bits >> shift;
	return bits;
}

int unwind_choose(struct tally_trace *t, struct bpf_opts *o)
{
	const enum unwind_way way = options_unwind(&t->opt);
	struct err why = { 0 };

	if (way == UNWIND_BY_POINTER || t->kind != &engine_kernel)
		return 0;
	if (unwind_machine() == SYM_OTHER_MACHINE)
		err_set(&why, TALLY_ENOTSUP, "unwind tables are supported on x86-64 and arm64 only");
	else if (!o->generations)
		err_set(&why, TALLY_ENOTSUP,
			"this kernel has no type information (BTF), by which mappings are watched");
	else
		(void)sym_cfi_ready(&why);
	if (why.code && way == UNWIND_AUTO)
		return 0;
	if (why.code)
		return trace_fail(t, TALLY_ENOTSUP, "failed to set -x ustackunwind=dwarf: %s", why.text);
	o->unwind = true;
	o->unwind_chunks = (uint32_t)(t->opt.v[OPT_unwindsize] / (8 * IMG_UNWIND_CHUNK));
	o->pc_bits = unwind_pc_bits();
	return 0;
}

/* ---- rows --------------------------------------------------------------------------------- */

/* The rule's number; 0, which knows nothing, when there is no room. */
static uint32_t unwind_rule_number(struct unwind *u, const struct img_unwind_rule *r)
{
	void **at = r->cfa_kind ? map_at(&u->rules, r, sizeof(*r)) : NULL;

	if (!at)
		return 0;
	if (!*at) {
		if (u->nrules == IMG_UNWIND_RULES_N) {
			u->rules_full = true;
			return 0;
		}
		u->rule[u->nrules] = *r;
		*at = (void *)(uintptr_t)u->nrules++;
	}
	return (uint32_t)(uintptr_t)*at;
}

static bool unwind_chunk_begin(struct unwind *u)
{
	if (u->used == u->nchunks) {
		u->rows_full = true;
		return false;
	}
	for (uint32_t i = 0; i < IMG_UNWIND_CHUNK; i++)
		u->chunk[u->used][i] = IMG_UNWIND_END;
	u->used++;
	u->nrows = 0;
	u->top = 0;
	return true;
}

/* Puts the rows of a file into the maps: as many as there is room for. */
static int unwind_file_place(struct unwind *u, struct unwind_file *f)
{
	const struct sym_cfi *c = &f->cfi;
	uint32_t cap = 0;

	for (uint32_t i = 0, n; i < c->n; i += n) {
		struct unwind_piece *piece;
		uint64_t delta, span;

		if ((!u->used || u->nrows >= CHUNK_ROWS || u->top >= CHUNK_SPAN) && !unwind_chunk_begin(u))
			break;
		/* as many as the chunk has room for, and numbers */
		for (n = 0; i + n < c->n && u->nrows + n < CHUNK_ROWS; n++)
			if (c->row[i + n].addr - c->row[i].addr >= CHUNK_SPAN - u->top)
				break;
		if (!n)
			n = 1;
		delta = u->top;
		piece = VEC_NEW(f->piece, f->npieces, cap);
		if (!piece)
			return -TALLY_ENOMEM;
		*piece = (struct unwind_piece){ c->row[i].addr, { u->used - 1, (uint32_t)delta } };
		for (uint32_t k = 0; k < n; k++) {
			const struct sym_cfi_row *row = &c->row[i + k];

			u->chunk[u->used - 1][u->nrows++] =
				(row->addr - c->row[i].addr + delta) << 32 | unwind_rule_number(u, &row->rule);
		}
		/* what lies behind belongs to the last of these rows up to the next piece */
		span = (i + n < c->n ? c->row[i + n].addr : c->row[i + n - 1].addr + 1) - c->row[i].addr;
		u->top = span < CHUNK_SPAN - delta ? delta + span : CHUNK_SPAN;
	}
	return 0;
}

static int unwind_file_read(struct unwind *u, struct unwind_file *f, const struct sym_cfi_bytes *b)
{
	int rc = sym_cfi_read(&f->cfi, unwind_machine(), b);

	f->without = rc < 0 || (!f->cfi.n && !f->cfi.foreign) ? IMG_UNWIND_BY_POINTER : IMG_UNWIND_NO_ROWS;
	if (rc == -TALLY_ENOMEM)
		return rc;
	if (rc >= 0)
		rc = unwind_file_place(u, f);
	u->late |= f->cfi.late;
	mem_free(f->cfi.row);
	f->cfi.row = NULL;
	return rc < 0 && rc == -TALLY_ENOMEM ? rc : 0;
}

/* ---- files -------------------------------------------------------------------------------- */

/* A file that is written to is another one. */
struct file_key {
	uint64_t device, inode, size, mtime_s, mtime_ns;
};

/* The file behind a mapping; NULL: nothing is known of it. */
static struct unwind_file *unwind_file_get(struct unwind *u, uint32_t pid, const struct k_task *m)
{
	const bool vdso = !strcmp(m->path, "[vdso]");
	const void *own = vdso ? (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR) : NULL;
	struct sym_cfi_bytes b = { -1, own, m->len };
	struct file_key key = { 0 };
	struct unwind_file *f = NULL;
	struct stat st;
	void **at;

	if (!vdso) {
		b.fd = k_mapped_file(pid, m->path);
		if (b.fd < 0 || fstat(b.fd, &st) < 0 || !S_ISREG(st.st_mode))
			goto out;
		key = (struct file_key){ st.st_dev, st.st_ino, (uint64_t)st.st_size, (uint64_t)st.st_mtim.tv_sec,
					 (uint64_t)st.st_mtim.tv_nsec };
	} else if (!own) {
		goto out;
	}
	at = map_at(&u->files, &key, sizeof(key));
	if (!at)
		goto out;
	f = *at;
	if (!f && (f = mem_alloc(sizeof(*f))) != NULL) {
		*at = f;
		(void)unwind_file_read(u, f, &b);
	}
out:
	if (b.fd >= 0)
		close(b.fd);
	return f;
}

/* ---- processes ---------------------------------------------------------------------------- */

/* Ranges of a process as they are found, by address. */
struct ranges {
	struct unwind *u;
	uint32_t pid, n;
	uint64_t start[IMG_UNWIND_RANGES];
	struct img_unwind_range range[IMG_UNWIND_RANGES];
};

static void range_add(struct ranges *r, uint64_t start, uint32_t chunk, uint32_t delta)
{
	/* A range ends where the next one begins: one that nothing is known of keeps a place for itself. */
	const uint32_t most = CHUNK_ROWS < IMG_UNWIND_RANGES ? CHUNK_ROWS : IMG_UNWIND_RANGES - 1;

	if (r->n && r->start[r->n - 1] == start)
		r->n--;
	if (r->n >= most - (chunk != IMG_UNWIND_NO_ROWS)) {
		r->u->ranges_full = true;
		return;
	}
	r->start[r->n] = start;
	r->range[r->n++] = (struct img_unwind_range){ chunk, delta };
}

/* One executable mapping. */
static void ranges_take(void *arg, const struct k_task *m)
{
	struct ranges *r = arg;
	const uint64_t end = m->addr + m->len;
	struct unwind_file *f = NULL;
	uint64_t addr;

	if ((int64_t)m->addr < 0 || m->kind != K_TASK_MMAP)
		return; /* of the kernel's half */
	if (!*m->path || *m->path == '/' || !strcmp(m->path, "[vdso]")) {
		if (*m->path)
			f = unwind_file_get(r->u, r->pid, m);
		if (!f)
			range_add(r, m->addr, *m->path ? IMG_UNWIND_NO_ROWS : IMG_UNWIND_BY_POINTER, 0);
		else if (!f->npieces || !sym_cfi_addr(&f->cfi, m->pgoff, &addr))
			range_add(r, m->addr, f->without, 0);
		else {
			if (f->piece[0].addr > addr)
				range_add(r, m->addr, IMG_UNWIND_NO_ROWS, 0);
			for (uint32_t i = 0; i < f->npieces; i++) {
				const struct unwind_piece *p = &f->piece[i];
				const uint64_t next = i + 1 < f->npieces ? f->piece[i + 1].addr : UINT64_MAX,
					       from = p->addr > addr ? p->addr : addr;

				if (next > addr && from - addr < m->len)
					range_add(r, m->addr + (from - addr), p->range.chunk,
						  p->range.delta + (uint32_t)(from - p->addr));
			}
		}
		range_add(r, end, IMG_UNWIND_NO_ROWS, 0);
	}
}

static struct unwind_process *process_find(struct unwind *u, uint32_t pid)
{
	for (uint32_t i = 0; i < IMG_UNWIND_PROCESSES_N; i++)
		if (u->process[i].pid == pid)
			return &u->process[i];
	return NULL;
}

static void process_forget(struct unwind *u, struct unwind_process *p)
{
	(void)u->maps.ops->remove(u->maps.maps, (uint32_t)u->processes, &p->pid);
	*p = (struct unwind_process){ 0 };
}

/* A free place, or that of a process that has ended. */
static struct unwind_process *process_place(struct unwind *u)
{
	struct unwind_process *p = process_find(u, 0);

	for (uint32_t i = 0; !p && i < IMG_UNWIND_PROCESSES_N; i++)
		if (u->process[i].dead) {
			p = &u->process[i];
			process_forget(u, p);
		}
	u->processes_full |= !p;
	return p;
}

void unwind_look(struct unwind *u, uint32_t pid)
{
	const uint64_t now_ns = k_now_ns();
	struct unwind_process *p = process_find(u, pid);
	struct ranges *r = mem_alloc(sizeof(*r));
	struct img_unwind_space *s;
	uint32_t number;

	if (!r)
		return;
	r->u = u;
	r->pid = pid;
	if (k_task_maps(pid, ranges_take, r) < 0) {
		if (p)
			p->dead = true;
		goto out;
	}
	if (!p && !(p = process_place(u)))
		goto out;
	number = (uint32_t)(p - u->process);
	s = &u->space[number];
	for (uint32_t i = r->n; i < IMG_UNWIND_RANGES; i++)
		r->start[i] = IMG_UNWIND_END;
	if (p->pid && !memcmp(s->start, r->start, sizeof(s->start)) && !memcmp(s->range, r->range, sizeof(s->range))) {
		/* What was mapped is no code: a walk that is under way goes on. */
		__atomic_store_n(&s->as_of_ns, now_ns, __ATOMIC_RELAXED);
	} else {
		__atomic_store_n(&s->changed, 0, __ATOMIC_SEQ_CST);
		s->as_of_ns = now_ns;
		memcpy(s->start, r->start, sizeof(s->start));
		memcpy(s->range, r->range, sizeof(s->range));
		__atomic_store_n(&s->changed, ++u->changes, __ATOMIC_SEQ_CST);
	}
	if (!p->pid && u->maps.ops->update(u->maps.maps, (uint32_t)u->processes, &pid, &number) >= 0)
		p->pid = pid;
	p->old = p->dead = false;
out:
	mem_free(r);
}

/* ---- a run -------------------------------------------------------------------------------- */

int unwind_open(struct tally_trace *t)
{
	const int spaces = image_map(t, IMG_UNWIND_SPACES, 0);
	struct unwind *u;

	if (spaces < 0)
		return 0;
	u = t->unwind = mem_alloc(sizeof(*u));
	if (!u)
		return trace_nomem(t);
	u->maps = t->eng->ops->maps(t->eng);
	u->processes = image_map(t, IMG_UNWIND_PROCESSES, 0);
	u->space = u->maps.ops->memory(u->maps.maps, (uint32_t)spaces);
	u->chunk = u->maps.ops->memory(u->maps.maps, (uint32_t)image_map(t, IMG_UNWIND_ROWS, 0));
	u->rule = u->maps.ops->memory(u->maps.maps, (uint32_t)image_map(t, IMG_UNWIND_RULES, 0));
	u->wanted = u->maps.ops->memory(u->maps.maps, (uint32_t)image_map(t, IMG_UNWIND_WANTED, 0));
	u->nchunks = t->img->map[image_map(t, IMG_UNWIND_ROWS, 0)].max_entries;
	u->nrules = 1; /* the first knows nothing */
	return 0;
}

int unwind_watch(struct tally_trace *t)
{
	if (t->unwind && !k_task_generations(t->eng->k))
		return trace_fail(
			t, TALLY_ENOTSUP,
			"failed to set -x ustackunwind: this kernel does not tell when mappings go, and tables could "
			"be of what is no longer there: use -x ustackunwind=fp");
	if (t->unwind && t->has_child)
		unwind_look(t->unwind, (uint32_t)t->child.pid);
	if (t->unwind && t->pid)
		unwind_look(t->unwind, (uint32_t)t->pid);
	return 0;
}

void unwind_task(struct tally_trace *t, const struct k_task *fact)
{
	struct unwind *u = t->unwind;
	struct unwind_process *p = fact->kind == K_TASK_FORK ? process_find(u, fact->ppid) : process_find(u, fact->pid);

	if (fact->kind == K_TASK_DATA || fact->kind == K_TASK_HEAP || fact->kind == K_TASK_GONE)
		return; /* code that goes is told as UNMAP */
	if (fact->kind == K_TASK_LOST) {
		for (uint32_t i = 0; i < IMG_UNWIND_PROCESSES_N; i++)
			u->process[i].old = u->process[i].pid != 0;
		u->any_old = true;
	} else if (!p || !p->pid) {
		return;
	} else if (fact->kind == K_TASK_EXIT) {
		p->dead = true;
	} else if (fact->kind == K_TASK_FORK) {
		u->wanted->pid[fact->pid % COUNT(u->wanted->pid)] = fact->pid;
	} else if (fact->time_ns > u->space[p - u->process].as_of_ns) { /* else the look has seen it */
		p->old = u->any_old = true;
	}
}

void unwind_turn(struct tally_trace *t)
{
	struct unwind *u = t->unwind;
	uint32_t looks = 0;

	if (!u)
		return;
	for (uint32_t i = 0; i < COUNT(u->wanted->pid) && looks < LOOKS_PER_TURN; i++) {
		const uint32_t pid =
			u->wanted->pid[i] ? __atomic_exchange_n(&u->wanted->pid[i], 0, __ATOMIC_RELAXED) : 0;

		if (pid) {
			unwind_look(u, pid);
			looks++;
		}
	}
	for (uint32_t i = 0; u->any_old && i < IMG_UNWIND_PROCESSES_N; i++) {
		if (!u->process[i].old || u->process[i].dead)
			continue;
		if (looks++ >= LOOKS_PER_TURN)
			return;
		unwind_look(u, u->process[i].pid);
	}
	u->any_old = false;
}

void unwind_report(struct tally_trace *t)
{
	const struct unwind *u = t->unwind;

	if (!u)
		return;
	if (u->rows_full)
		trace_note(t,
			   "stacks are [truncated] in files for whose unwind tables "
			   "there was no room: raise -x unwindsize (%llu bytes)",
			   (unsigned long long)t->opt.v[OPT_unwindsize]);
	if (u->processes_full)
		trace_note(t,
			   "stacks are [truncated] in processes for which "
			   "there was no room: %d at a time have unwind tables",
			   IMG_UNWIND_PROCESSES_N);
	if (u->ranges_full)
		trace_note(t, "stacks are [truncated] in a process that has more than %d ranges of code",
			   IMG_UNWIND_RANGES - 1);
	if (u->rules_full)
		trace_note(t, "stacks are [truncated] in code whose unwind rules are more than %d",
			   IMG_UNWIND_RULES_N - 1);
	if (u->late)
		trace_note(t, "stacks are [truncated] in a file whose unwind tables took too long to read");
}

void unwind_close(struct tally_trace *t)
{
	struct unwind *u = t->unwind;
	const void *key;
	size_t i = 0, len;
	void *val;

	if (!u)
		return;
	while (map_next(&u->files, &i, &key, &len, &val)) {
		struct unwind_file *f = val;

		if (!f)
			continue;
		sym_cfi_free(&f->cfi);
		mem_free(f->piece);
		mem_free(f);
	}
	map_free(&u->files);
	map_free(&u->rules);
	mem_free(u);
	t->unwind = NULL;
}
