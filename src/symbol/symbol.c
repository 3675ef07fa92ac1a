/*
 * symbol.c: the questions, answered from tables, files and address spaces.
 *
 * Nothing is read before it is asked for: sym_open allocates a struct, kallsyms
 * is read with the first kernel address, an ELF file with the first address in it.
 * Facts of processes are kept as they come (sym_task); a process that was there
 * before the watch began is looked at when it is asked about, while it lives.
 */
#include <stdio.h>
#include <string.h>

#include "symbol/symbol_int.h"

#define DEMANGLED_BYTES_MOST (256u << 20)
#define WORDS_MOST 65536u
#define FORKS_MOST 256u /* that may go on at a time, each on a CPU */

struct symbols {
	struct kernel_names kernel;
	struct files files;
	struct spaces spaces;
	struct jits jits;
	enum sym_demangle how;
	struct map words; /* for memory without code, by themselves */
	uint32_t nwords;
	struct names word_names;
	struct map demangled; /* names as they are shown, by the text in memory that they were made of */
	struct names demangled_names;
	uint64_t lost;
	/* each address whose mapping is gone or forgotten, whose file is not what it was or could not be reached or has
	 * too many names, or whose perf map is not clear */
	struct map gone, forgotten, unread, unreached, overfull, ambiguous;
	struct forked {
		uint32_t pid, ppid, tid;
	} forked[FORKS_MOST]; /* the last nforks, in turn */
	uint32_t nforks;
};

int sym_open(struct symbols **ret)
{
	struct symbols *s = mem_alloc(sizeof(*s));

	if (!s)
		return -TALLY_ENOMEM;
	*ret = s;
	return 0;
}

void sym_close(struct symbols *s)
{
	if (!s)
		return;
	spaces_free(&s->spaces);
	files_free(&s->files);
	names_free(&s->jits.names);
	names_free(&s->demangled_names);
	names_free(&s->word_names);
	map_free(&s->words);
	map_free(&s->demangled);
	map_free(&s->gone);
	map_free(&s->forgotten);
	map_free(&s->unread);
	map_free(&s->unreached);
	map_free(&s->overfull);
	map_free(&s->ambiguous);
	kernel_names_free(&s->kernel);
	mem_free(s);
}

void sym_demangle(struct symbols *s, enum sym_demangle how)
{
	s->how = how;
}

void sym_keep_data(struct symbols *s)
{
	s->spaces.keeps_data = true;
}

void sym_ask_servers(struct symbols *s)
{
	s->files.ask_servers = true;
}

/* Names stay where they are, so each is demangled once. */
static const char *symbol_demangled(struct symbols *s, const char *name)
{
	char text[NAME_MOST];
	void **at;
	size_t n;

	if (s->how == SYM_DEMANGLE_OFF || name[0] != '_' || s->demangled_names.bytes >= DEMANGLED_BYTES_MOST)
		return name;
	at = map_at(&s->demangled, &name, sizeof(name));
	if (at && !*at) {
		n = name_demangle(s->how, name, text, sizeof(text));
		*at = (void *)(n ? names_add(&s->demangled_names, text, n) : name);
	}
	return at && *at ? *at : name;
}

/* ---- the kernel ------------------------------------------------------------------ */

const char *sym_kernel_hidden(const struct symbols *s)
{
	return s->kernel.why.text;
}

void sym_kernel(struct symbols *s, uint64_t addr, struct sym_name *ret)
{
	const struct sym *sym;

	*ret = (struct sym_name){ 0 };
	sym = kernel_names_find(&s->kernel, addr, s->files.seen_by_ns, &ret->mod);
	if (!sym)
		return;
	ret->name = sym->name ? symbol_demangled(s, sym->name) : NULL;
	ret->offset = sym->name ? addr - sym->start : addr;
	ret->start = sym->name ? sym->start : addr;
}

/* ---- processes --------------------------------------------------------------------- */

/* Whose perf map is believed must be known before the process is gone. path: of the file that it maps, or "". */
static void meet_jit(struct symbols *s, const struct mapping *m, uint32_t pid, const char *path)
{
	const struct mapping *found;
	struct space *sp = spaces_find(&s->spaces, pid, m->start, m->from_ns, &found);

	if (!sp)
		return;
	if (!*path && !sp->jit)
		sp->jit = jit_open(&s->jits, pid);
	if (!*path && sp->jit)
		jit_take(sp->jit, pid);
	if (*path && !sp->dump)
		sp->dump = jit_open_dump(&s->jits, pid, path);
	if (sp->dump)
		jit_take(sp->dump, pid);
}

/* Its /tmp may end with the process. */
static void leave_jit(struct symbols *s, uint32_t pid)
{
	const struct mapping *found;
	struct space *sp = spaces_find(&s->spaces, pid, 0, 0, &found);
	struct jit *left[] = { sp ? sp->jit : NULL, sp ? sp->dump : NULL };

	for (size_t i = 0; i < COUNT(left); i++)
		if (left[i]) {
			left[i]->misses = 0; /* now or never */
			jit_take(left[i], pid);
		}
}

static void take_mapping(struct symbols *s, const struct k_task *t)
{
	struct mapping m = { .start = t->addr,
			     .pgoff = t->pgoff,
			     .from_ns = t->time_ns,
			     .until_ns = UINT64_MAX,
			     .looked_ns = t->looked ? t->time_ns : 0,
			     .told = !t->looked };
	bool lost = false;
	struct kin kin;

	m.end = t->len <= UINT64_MAX - t->addr ? t->addr + t->len : UINT64_MAX;
	kin.n = spaces_ancestors(&s->spaces, t->pid, t->time_ns, kin.pid, COUNT(kin.pid));
	m.file = files_see(&s->files, t, &kin, &lost);
	if (m.file && m.file->vdso)
		m.pgoff = 0; /* kernels differ in what they tell */
	if (!spaces_map(&s->spaces, t->pid, &m) || lost)
		s->lost++;
	if (!*t->path || (m.file && !strncmp(m.file->mod, "jit-", 4)))
		meet_jit(s, &m, t->pid, m.file ? m.file->path : "");
}

/* What memory is called that has no code; equal words are one pointer. "" (which is none) or a file's path without a
 * directory, or in brackets what the kernel says of memory without a file. */
static const char *word_of(struct symbols *s, const char *path)
{
	/* memory that processes share, and large pages, have files that nobody made */
	static const char *const unmade[] = { "/dev/zero", "/anon_hugepage", "[anon" };
	const char *word = path, *slash = strrchr(path, '/');
	size_t n;
	void **at;

	if (path[0] == '/' && slash[1] && slash[1] != '[')
		word = slash + 1;
	for (size_t i = 0; i < COUNT(unmade); i++)
		if (!strncmp(path, unmade[i], strlen(unmade[i])))
			word = "";
	if (!*word)
		word = "[anon]";
	n = strlen(word);
	if (n > sizeof(GONE_MARK) - 1 && !strcmp(word + n - (sizeof(GONE_MARK) - 1), GONE_MARK))
		n -= sizeof(GONE_MARK) - 1;
	at = s->nwords < WORDS_MOST ? map_at(&s->words, word, n) : NULL;
	if (at && !*at && (*at = (void *)names_add(&s->word_names, word, n)))
		s->nwords++;
	return at ? *at : map_get(&s->words, word, n);
}

static struct stretch stretch_of(const struct k_task *t)
{
	struct stretch m = { .start = t->addr, .from_ns = t->time_ns, .since_ns = t->time_ns };

	m.end = t->len <= UINT64_MAX - t->addr ? t->addr + t->len : UINT64_MAX;
	m.looked_ns = t->looked ? t->time_ns : 0;
	return m;
}

static bool take_data(struct symbols *s, const struct k_task *t)
{
	struct stretch m = stretch_of(t);

	if (!s->spaces.keeps_data)
		return true;
	m.what = word_of(s, t->kind == K_TASK_HEAP ? "[heap]" : t->path);
	if (!m.what)
		return false;
	if (m.what[0] != '[')
		m.shift = t->pgoff - t->addr;
	return t->kind == K_TASK_HEAP ? spaces_heap(&s->spaces, t->pid, &m) : spaces_data(&s->spaces, t->pid, &m);
}

/* A thread forks one process after the other, so its last one is meant. */
static bool share_memory(struct symbols *s, const struct k_task *t)
{
	for (uint32_t i = 1; i <= FORKS_MOST && i <= s->nforks; i++) {
		const struct forked *f = &s->forked[(s->nforks - i) % FORKS_MOST];

		if (f->ppid == t->pid && f->tid == t->tid)
			return spaces_share(&s->spaces, f->pid, f->ppid);
	}
	s->spaces.lost_ns = t->time_ns;
	return false;
}

void sym_task(void *arg, const struct k_task *t)
{
	struct symbols *s = arg;
	const struct stretch gone = stretch_of(t);
	bool ok = true;

	switch (t->kind) {
	case K_TASK_MMAP:
		take_mapping(s, t);
		if (s->spaces.keeps_data)
			ok = spaces_data(&s->spaces, t->pid, &gone);
		break;
	case K_TASK_DATA:
	case K_TASK_HEAP:
		ok = take_data(s, t);
		break;
	case K_TASK_GONE:
		ok = spaces_unmapped(&s->spaces, t->pid, &gone);
		break;
	case K_TASK_COMM_EXEC:
		leave_jit(s, t->pid);
		ok = spaces_exec(&s->spaces, t->pid, t->time_ns);
		break;
	case K_TASK_FORK:
		ok = spaces_fork(&s->spaces, t->pid, t->ppid, t->time_ns);
		s->forked[s->nforks++ % FORKS_MOST] = (struct forked){ t->pid, t->ppid, t->tid };
		break;
	case K_TASK_SHARE:
		ok = share_memory(s, t);
		break;
	case K_TASK_EXIT:
		leave_jit(s, t->pid);
		spaces_exit(&s->spaces, t->pid);
		break;
	case K_TASK_UNMAP:
		ok = spaces_unmap(&s->spaces, t->pid, t->time_ns, t->since_ns);
		break;
	case K_TASK_MOVE:
		ok = spaces_move(&s->spaces, t->pid, &(struct moving){ t->addr, t->len, t->to, t->to_len, t->stays },
				 t->time_ns);
		if (spaces_data_strayed(&s->spaces, t->pid, k_now_ns()))
			(void)sym_look(s, t->pid); /* it may have ended before somebody asks */
		break;
	case K_TASK_LOST:
		s->lost += t->len;
		s->spaces.lost_ns = t->time_ns;
		break;
	}
	s->lost += !ok;
}

void sym_all_seen(struct symbols *s, bool yes)
{
	s->files.seen_by_ns = s->jits.seen_by_ns = yes ? k_now_ns() : 0;
}

int sym_look(struct symbols *s, uint32_t pid)
{
	uint64_t now_ns = k_now_ns();
	int rc = s->spaces.keeps_data ? k_task_all_maps(pid, sym_task, s) : k_task_maps(pid, sym_task, s);

	if (rc >= 0)
		spaces_looked(&s->spaces, pid, now_ns);
	return rc;
}

bool sym_must_look(const struct symbols *s, uint32_t pid, uint64_t addr, uint64_t generation_ns)
{
	struct place at;

	const enum seen seen = spaces_seen(&s->spaces, pid, addr, generation_ns, &at);

	return (seen == SEEN_GONE && space_can_be_read(at.space)) ||
	       (s->spaces.keeps_data && at.space && seen != SEEN_MAPPING &&
		space_data_may_be_found(&s->spaces, at.space, addr));
}

bool sym_knows(struct symbols *s, uint32_t pid)
{
	return spaces_knows(&s->spaces, pid);
}

uint64_t sym_lost(const struct symbols *s)
{
	return s->lost;
}

uint64_t sym_gone(const struct symbols *s)
{
	return s->gone.n;
}

uint64_t sym_forgotten(const struct symbols *s)
{
	return s->forgotten.n;
}

uint64_t sym_unread(const struct symbols *s)
{
	return s->unread.n;
}

uint64_t sym_unreached(const struct symbols *s)
{
	return s->unreached.n;
}

uint64_t sym_overfull(const struct symbols *s)
{
	return s->overfull.n;
}

uint64_t sym_ambiguous(const struct symbols *s)
{
	return s->ambiguous.n;
}

/* ---- user addresses ------------------------------------------------------------------ */

/* What is counted: each address of each generation once. */
static void note_unknown(struct map *m, uint32_t pid, uint64_t addr, uint64_t generation_ns)
{
	const uint64_t place[] = { pid, generation_ns, addr };
	void **at = map_at(m, place, sizeof(place));

	if (at)
		*at = m;
}

static void name_in_jit(struct symbols *s, const struct place *seen, uint64_t addr, uint64_t generation_ns,
			struct sym_name *ret)
{
	struct space *sp = seen->space;
	const uint32_t pid = sp->proc->pid;
	const struct sym *sym = NULL;
	struct jit_question q = { .pid = pid, .addr = addr, .since_ns = generation_ns, .until_ns = seen->until_ns };
	enum jit_told told = JIT_NOTHING;

	if (!sp->jit && !(sp->jit = jit_open(&s->jits, pid)))
		return;
	/* Of a process that was there before anybody looked, the file may be older than an exec. */
	q.life.from_ns = sp->start_ns ? sp->start_ns : sp->jit->began_ns;
	q.life.until_ns = space_until(sp);
	q.life.first = !sp->older || !sp->older->jit;
	if (sp->dump)
		told = jit_find(sp->dump, &q, &sym);
	if (told == JIT_NOTHING)
		told = jit_find(sp->jit, &q, &sym);
	switch (told) {
	case JIT_NOTHING:
		return;
	case JIT_NAME:
		ret->offset = addr - sym->start;
		ret->start = sym->start;
		ret->name = sym->name;
		break;
	case JIT_AMBIGUOUS:
		ret->offset = ret->start = addr;
		ret->unread = SYM_AMBIGUOUS;
		note_unknown(&s->ambiguous, pid, addr, generation_ns);
		break;
	}
	ret->mod = "[jit]";
	ret->file_id = (1ULL << 63) | pid;
}

/* What the file calls the address (NULL: its names are not known). */
static void name_in_table(const struct table *t, uint64_t vaddr, struct sym_name *ret)
{
	const struct sym *sym = t ? table_find(t, vaddr) : NULL;
	const bool named = sym && sym->name;

	ret->name = named ? sym->name : NULL;
	ret->start = named ? sym->start : vaddr;
	ret->offset = vaddr - (named ? sym->start : 0);
	if (t && !named && (sym || t->overfull))
		ret->unread = SYM_OVERFULL;
}

static void name_in_file(const struct place *at, const struct content *c, uint64_t addr, struct sym_name *ret)
{
	const struct mapping *m = at->m;
	const struct object *o = c ? c->object : NULL;
	uint64_t where = addr - m->start + m->pgoff;

	ret->mod = m->file->memory && c && c->memory_mod ? c->memory_mod : m->file->mod;
	ret->path = m->file->path;
	ret->file_id = c ? c->id : 0;
	/* A 32-bit process has another vdso than we. */
	if (m->file->vdso && sizeof(void *) == 8 && m->end <= UINT32_MAX)
		o = NULL;
	const struct table *names = o && object_vaddr(o, where, &where) ? &o->t : NULL;
	name_in_table(names, where, ret);
	ret->file = m->file;
	ret->content = o ? c : NULL;
	ret->vaddr = where;
}

/*
 * The variable at an address that no code is at. A loader puts a file's data at a fixed distance from its code, so the
 * code that lies next to it, below or above, and was there in that generation, says whose it is: of processes that
 * ended, too, and of plugins that were unloaded.
 */
static bool name_variable(struct symbols *s, const struct space *sp, uint64_t addr, uint64_t generation_ns,
			  struct sym_name *ret)
{
	const uint32_t pid = sp->proc->pid;
	uint64_t near[2], base, vaddr;
	uint32_t n = space_neighbours(sp, addr, near);

	for (uint32_t i = 0; i < n; i++) {
		struct place at = { .since_ns = UINT64_MAX, .until_ns = UINT64_MAX };
		const struct content *c = NULL;

		if (generation_ns)
			(void)spaces_seen(&s->spaces, pid, near[i], generation_ns, &at);
		else
			(void)spaces_find(&s->spaces, pid, near[i], 0, &at.m);
		if (!at.m || !at.m->file || at.m->file->vdso ||
		    files_read(&s->files, at.m->file, at.since_ns, at.until_ns, &c) != HELD_THIS || !c->object ||
		    !object_vaddr(c->object, at.m->pgoff, &base))
			continue;
		vaddr = addr - at.m->start + base;
		if (!object_holds_data(c->object, vaddr))
			continue;
		*ret = (struct sym_name){ .mod = at.m->file->memory && c->memory_mod ? c->memory_mod : at.m->file->mod,
					  .file_id = c->id,
					  .path = at.m->file->path };
		name_in_table(files_variables(&s->files, at.m->file, c), vaddr, ret);
		return true;
	}
	return false;
}

/* The word for an address that is in no object. */
static bool name_memory(struct symbols *s, const struct space *sp, uint64_t addr, uint64_t generation_ns,
			struct sym_name *ret)
{
	struct stretch is;

	if (!s->spaces.keeps_data || !space_data_seen(&s->spaces, sp, addr, generation_ns, &is))
		return false;
	*ret = (struct sym_name){ .mod = is.what, .memory = true, .placeless = is.moved, .offset = addr + is.shift };
	return true;
}

/* What is mapped at addr. A process that was never looked at, or whose mappings got lost, is looked
 * at now; ever more rarely when that does not help. */
static struct space *symbol_find_space(struct symbols *s, uint32_t pid, uint64_t addr, uint64_t time_ns,
				       const struct mapping **m)
{
	struct space *sp = spaces_find(&s->spaces, pid, addr, time_ns, m);

	if (*m || (sp ? sp->dead : spaces_knows(&s->spaces, pid)))
		return sp;
	if (sp) {
		sp->misses++;
		if (sp->misses & (sp->misses - 1))
			return sp;
	}
	sym_look(s, pid);
	return spaces_find(&s->spaces, pid, addr, time_ns, m);
}

/* Addresses that no process can have mapped are of nothing that went. */
static bool can_be_mapped(uint64_t addr)
{
	return addr >= 4096 && !(addr >> 63);
}

/* The same of a generation. A process that nobody looked at is looked at now: it may have lost nothing since. */
static void find_seen(struct symbols *s, uint32_t pid, uint64_t addr, uint64_t generation_ns, struct place *at,
		      struct sym_name *ret)
{
	enum seen seen = spaces_seen(&s->spaces, pid, addr, generation_ns, at);

	if (seen == SEEN_GONE && space_can_be_read(at->space) && sym_look(s, pid) >= 0)
		seen = spaces_seen(&s->spaces, pid, addr, generation_ns, at);
	if (!pid || !can_be_mapped(addr) ||
	    (!at->m && at->space &&
	     (name_variable(s, at->space, addr, generation_ns, ret) ||
	      name_memory(s, at->space, addr, generation_ns, ret))))
		return;
	ret->gone = seen == SEEN_GONE;
	ret->forgotten = seen == SEEN_FORGOTTEN;
	if (ret->gone || ret->forgotten)
		note_unknown(ret->gone ? &s->gone : &s->forgotten, pid, addr, generation_ns);
}

static void symbol_find_user(struct symbols *s, uint32_t pid, uint64_t addr, uint64_t generation_ns,
			     struct sym_name *ret)
{
	struct place at = { .until_ns = UINT64_MAX };
	enum held held = HELD_THIS;
	const struct content *c = NULL;

	if (generation_ns)
		find_seen(s, pid, addr, generation_ns, &at, ret);
	else
		at.space = symbol_find_space(s, pid, addr, 0, &at.m);
	if (!at.m && at.space && !generation_ns && can_be_mapped(addr) && !name_variable(s, at.space, addr, 0, ret))
		(void)name_memory(s, at.space, addr, 0, ret);
	if (!at.m)
		return;
	if (at.m->file)
		held = files_read(&s->files, at.m->file, generation_ns ? at.since_ns : UINT64_MAX, at.until_ns, &c);
	if (!at.m->file || (!at.m->file->vdso && !(c && c->object)))
		name_in_jit(s, &at, addr, generation_ns, ret);
	if (!at.m->file || ret->mod)
		return;
	name_in_file(&at, c, addr, ret);
	if (held != HELD_OTHER && held != HELD_GONE && held != HELD_UNREACHED)
		return;
	ret->unread = held == HELD_OTHER ? SYM_CHANGED : held == HELD_GONE ? SYM_GONE : SYM_UNREACHED;
	ret->inode = at.m->file->inode;
	ret->inode_generation = at.m->file->inode_generation;
	note_unknown(held == HELD_UNREACHED ? &s->unreached : &s->unread, pid, addr, generation_ns);
}

void sym_user(struct symbols *s, uint32_t pid, uint64_t addr, uint64_t generation_ns, struct sym_name *ret)
{
	*ret = (struct sym_name){ 0 };
	symbol_find_user(s, pid, addr, generation_ns, ret);
	if (ret->unread == SYM_OVERFULL)
		note_unknown(&s->overfull, pid, addr, generation_ns);
	if (ret->name)
		ret->name = symbol_demangled(s, ret->name);
}

const char *sym_demangled(struct symbols *s, const char *name)
{
	return symbol_demangled(s, name);
}

const struct sym_line *sym_line(struct symbols *s, const struct sym_name *n, bool of_call)
{
	struct lines *l = n->content ? files_lines(&s->files, n->file, n->content) : NULL;

	return l ? lines_find(l, n->vaddr - of_call) : NULL;
}

/* ---- text -------------------------------------------------------------------------------- */

/* Why a module's address has no name. */
static void symbol_put_reason(const struct sym_name *n, struct buf *to)
{
	switch ((enum sym_unread)n->unread) {
	case SYM_READ:
		break;
	case SYM_CHANGED:
		buf_puts(to, " [file changed]");
		break;
	case SYM_AMBIGUOUS:
		buf_puts(to, " [map ambiguous]");
		break;
	case SYM_OVERFULL:
		buf_puts(to, " [too many names]");
		break;
	case SYM_GONE: /* two files of one name are two */
	case SYM_UNREACHED:
		buf_printf(to, " [file %s, inode %llu.%llu]", n->unread == SYM_GONE ? "gone" : "not reached",
			   (unsigned long long)n->inode, (unsigned long long)n->inode_generation);
	}
}

void sym_text(const struct sym_name *n, uint64_t addr, bool with_offset, struct buf *to)
{
	if (!n->mod)
		buf_printf(to,
			   n->gone      ? "0x%llx [mapping gone]" :
			   n->forgotten ? "0x%llx [mapping forgotten]" :
					  "0x%llx",
			   (unsigned long long)addr);
	else if (n->memory && (!with_offset || n->placeless))
		buf_puts(to, n->mod);
	else if (!n->name)
		buf_printf(to, "%s`0x%llx", n->mod, (unsigned long long)n->offset);
	else if (with_offset && n->offset)
		buf_printf(to, "%s`%s+0x%llx", n->mod, n->name, (unsigned long long)n->offset);
	else
		buf_printf(to, "%s`%s", n->mod, n->name);
	symbol_put_reason(n, to);
}

void sym_func_text(const struct sym_name *n, uint64_t addr, struct buf *to)
{
	if (!n->mod || n->name) {
		sym_text(n, addr, false, to);
		return;
	}
	buf_printf(to, n->mod[0] == '[' ? "%s" : "[%s]", n->mod); /* [vdso] is one already */
	symbol_put_reason(n, to);
}
