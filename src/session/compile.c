/*
 * compile.c: sources to a program, and the program to an image.
 *
 * The compiler asks back through d_env: probes come from the providers, macro
 * variables from the script's arguments and the process, pragmas set options.
 * $target needs the command's process id, so the command of -c is forked (and
 * held before its exec) when that is first asked for.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "session/session_int.h"

/* Of 100 frames: 26 MB, only for scripts that have stacks as keys; those that collide take as much as they need, at
 * most 130 MB. */
#define STACK_ENTRIES 32768u
#define AGG_KEY_BYTES 32 /* of aggsize make room for one key */
#define SMALL_RING (64u << 10)

/* ---- what the compiler asks ------------------------------------------------ */

static int env_probes(void *arg, const struct d_probedesc *desc, int (*add)(void *add_arg, uint32_t id), void *add_arg,
		      struct err *e)
{
	struct tally_trace *t = arg;

	int rc = probes_match(t->probes, desc, add, add_arg, e);

	if (t->listing && (rc == 0 || (rc < 0 && e->code && rc != -TALLY_ENOMEM)))
		list_note_unmatched(t, desc, e);
	/* dtrace(1) has one line; that cpc's has a second is in its specification */
	if (t->o.flags & TALLY_TRACE_COMPAT && strcmp(desc->prov, "cpc") && e->code != TALLY_ESYNTAX)
		*e = (struct err){ 0 };
	return rc;
}

static enum d_tag env_refusal(void *arg)
{
	struct tally_trace *t = arg;

	return probes_refusal(t->probes);
}

static int env_provider(void *arg, const char *name, struct err *e)
{
	struct tally_trace *t = arg;

	return probes_provider(t->probes, name, e);
}

static int env_module(void *arg, const char *name, struct err *e)
{
	(void)arg;
	return k_module_is_there(name) ?
		       0 :
		       err_set(e, TALLY_ENOPROBE,
			       "this kernel has no module \"%.60s\", neither loaded (lsmod) nor built in", name);
}

static const struct d_args *env_args(void *arg, uint32_t probe, uint32_t index)
{
	struct tally_trace *t = arg;

	return probe_args(probes_get(t->probes, probe), index);
}

static bool env_defined(void *arg, uint32_t probe, const char **prov, const char **name)
{
	struct tally_trace *t = arg;
	const struct probe *p = probes_get(t->probes, probe);

	*prov = p->def_prov;
	*name = p->def_name;
	return p->def_prov != NULL;
}

static uint32_t env_text_bytes(void *arg, uint32_t probe, uint32_t x)
{
	struct tally_trace *t = arg;
	const struct probe *p = probes_get(t->probes, probe);
	const char *text = x == BS_PROBEPROV ? p->prov_name :
			   x == BS_PROBEMOD  ? p->mod :
			   x == BS_PROBEFUNC ? p->func :
					       p->name;

	return p->is_later ? 0 :
			     (uint32_t)strlen(text) + 1 + (x == BS_PROBEPROV && probe_is_any(p) ? PROBEPROV_DIGITS : 0);
}

static int env_counter(void *arg, const char *event, struct err *e)
{
	struct tally_trace *t = arg;
	struct prov_count found;

	return prov_counter(t->probes, event, &found, e);
}

static int env_option(void *arg, const char *name, const char *value, struct err *e)
{
	struct tally_trace *t = arg;

	return options_set(&t->opt, name, value, e, t->o.flags & TALLY_TRACE_COMPAT ? NULL : &t->why);
}

static uint32_t frames_at_most(uint64_t n, uint32_t most)
{
	return n < most ? (uint32_t)n : most;
}

/* What stack(n) gets at most: by its option, by the kernel, and by us. */
static uint32_t frames_most(const struct tally_trace *t)
{
	return frames_at_most(t->opt.v[OPT_maxframes], frames_at_most(t->kind->frames(), D_FRAMES_MOST));
}

static void env_sizes(void *arg, struct d_env *env)
{
	struct tally_trace *t = arg;

	env->strsize = t->opt.v[OPT_strsize];
	env->pcapsize = (uint32_t)t->opt.v[OPT_pcapsize];
	env->scratchsize = (uint32_t)t->opt.v[OPT_scratchsize];
	env->maxframes = frames_most(t);
	env->stackframes = frames_at_most(t->opt.v[OPT_stackframes], env->maxframes);
	env->ustackframes = frames_at_most(t->opt.v[OPT_ustackframes], env->maxframes);
	env->jstackframes = frames_at_most(t->opt.v[OPT_jstackframes], env->maxframes);
	env->defaultargs = t->opt.v[OPT_defaultargs];
	env->errtags = t->opt.v[OPT_errtags];
	env->pspec = t->opt.v[OPT_pspec];
	env->empty_ok = t->opt.v[OPT_zdefs] || t->listing;
	env->keys_most = t->opt.v[OPT_tregs];
	env->no_program_ok = t->opt.v[OPT_empty];
}

long trace_target(struct tally_trace *t)
{
	if (t->pid)
		return t->pid;
	if (!t->command || child_ready(t) < 0)
		return -1;
	return t->child.pid;
}

static const char *compile_number(struct tally_trace *t, long n)
{
	if (n < 0)
		return NULL;
	snprintf(t->macro, sizeof(t->macro), "%ld", n);
	return t->macro;
}

/* $0, $1 ... and their $$ forms: the compiler makes a string or a number of the text. */
static const char *compile_argument(struct tally_trace *t, const char *name)
{
	uint64_t i;

	if (!text_u64(name, &i) || i >= t->narg)
		return NULL;
	t->arg_used[i] = true;
	return t->arg[i];
}

static const char *env_macro(void *arg, const char *name)
{
	struct tally_trace *t = arg;

	if (*name == '$')
		name++;
	if (*name >= '0' && *name <= '9')
		return compile_argument(t, name);
	if (!strcmp(name, "target"))
		return compile_number(t, trace_target(t));
	if (!strcmp(name, "pid"))
		return compile_number(t, getpid());
	if (!strcmp(name, "ppid"))
		return compile_number(t, getppid());
	if (!strcmp(name, "pgid"))
		return compile_number(t, getpgid(0));
	if (!strcmp(name, "sid"))
		return compile_number(t, getsid(0));
	if (!strcmp(name, "uid"))
		return compile_number(t, getuid());
	if (!strcmp(name, "euid"))
		return compile_number(t, geteuid());
	if (!strcmp(name, "gid"))
		return compile_number(t, getgid());
	if (!strcmp(name, "egid"))
		return compile_number(t, getegid());
	return NULL;
}

/* ---- sources ------------------------------------------------------------------ */

/* The command of -c waits for its exec: what it will run is looked at when it has it. pid 0: whatever process is
 * meant. */
static int process_ready(void *arg, uint32_t pid, struct err *why)
{
	struct tally_trace *t = arg;

	const enum evaltime when = options_evaltime(&t->opt, t->o.flags & TALLY_TRACE_COMPAT ? EVAL_MAIN : EVAL_EXEC);
	int rc;

	if (!pid && t->command && (rc = child_ready(t)) < 0)
		return err_set(why, -rc, "cannot run the command: %s", tally_strerror(rc));
	if (!t->has_child || (pid && (uint32_t)t->child.pid != pid) || t->child.held)
		return 0;
	rc = k_child_hold(&t->child, when == EVAL_MAIN || when == EVAL_POSTINIT ? K_HOLD_MAIN : K_HOLD_ENTRY, why);
	if (rc >= 0 && t->child.exec_error)
		return err_set(why, TALLY_EINVAL, "cannot run the command: %s", strerror(t->child.exec_error));
	if (rc >= 0 && t->child.ended)
		return err_set(why, TALLY_EINVAL, "the command ended before its program began");
	return rc < 0 ? rc : 0;
}

int open_probes(struct tally_trace *t)
{
	const struct records *r = t->records;
	struct prov_opts o = { .sysfs = t->o.sysfs,
			       .conf = t->o.conf,
			       .cpc_min = t->opt.v[OPT_dcpc_min_overflow],
			       .cpc_exclusive = t->opt.v[OPT_cpcexclusive],
			       .functions = options_functions(&t->opt),
			       .records = r && !r->transport,
			       .vm = t->kind == &engine_vm,
			       .transport = r ? r->transport : NULL,
			       .sun4v = r ? r->sun4v : NULL,
			       .process_ready = process_ready,
			       .process_arg = t };
	int rc = probes_open(&t->probes, &o);

	return rc < 0 ? trace_fail(t, -rc, "%s", tally_strerror(rc)) : 0;
}

static int refuse_argument(struct tally_trace *t, uint32_t i)
{
	const struct source *first = &t->src[0], *last = &t->src[t->nsrc - 1];
	struct buf reason = { 0 };
	int rc;

	if (strchr("{/", t->arg[i][0]) && !(t->o.flags & TALLY_TRACE_COMPAT) && last->part != TALLY_PART_NAME)
		err_set(&t->why, TALLY_ESYNTAX, "predicate and actions belong to the argument before: '%s %s'",
			last->label, t->arg[i]);
	buf_printf(&reason, "%sextraneous argument '%s' ($%u is not referenced)",
		   d_mark(t->opt.v[OPT_errtags], D_MACRO_UNUSED), t->arg[i], i);
	rc = reason.failed ? trace_nomem(t) :
			     d_refuse_source(&t->err, TALLY_ESYNTAX, first->name, first->text, first->n, reason.p);
	buf_free(&reason);
	return rc;
}

/* As dtrace(1): an argument that no source looked at is most likely a mistake. */
static int check_arguments(struct tally_trace *t)
{
	if (t->opt.v[OPT_argref] || t->opt.v[OPT_defaultargs])
		return 0;
	for (uint32_t i = 1; i < t->narg; i++)
		if (!t->arg_used[i])
			return refuse_argument(t, i);
	return 0;
}

static int compile_source(struct tally_trace *t, const struct source *s)
{
	struct buf text = { 0 };
	int rc;

	if (s->part != TALLY_PART_NAME)
		return d_source_part(t->unit, D_PART_PROVIDER + s->part, s->text, s->n, &t->err);
	if (!t->opt.v[OPT_cpp])
		return d_source(t->unit, s->name, s->text, s->n, &t->err);
	rc = source_preprocess(t, s, &text);
	if (rc >= 0)
		rc = d_source(t->unit, s->name, text.p ? text.p : "", text.n, &t->err);
	buf_free(&text);
	return rc;
}

static int compile_all(struct tally_trace *t, struct d_env *env)
{
	int rc = open_probes(t);

	env->ktypes = rc < 0 ? NULL : k_types_ops(probes_types(t->probes));
	if (rc >= 0 && (rc = d_open(&t->unit, env)) < 0)
		rc = trace_fail(t, -rc, "%s", tally_strerror(rc));
	for (uint32_t i = 0; rc >= 0 && i < t->nsrc; i++)
		rc = compile_source(t, &t->src[i]);
	if (rc >= 0) {
		probes_set(t->probes, t->opt.v[OPT_dcpc_min_overflow], t->opt.v[OPT_cpcexclusive],
			   options_functions(&t->opt),
			   t->listing || t->kind != &engine_kernel ? WAITS_NONE :
			   t->opt.v[OPT_zdefs]                     ? WAITS_ALL :
								     WAITS_MATCHED);
		rc = d_compile(t->unit, &t->prog, &t->err, &t->why);
	}
	return rc < 0 ? rc : check_arguments(t);
}

int compile_sources(struct tally_trace *t)
{
	struct buf dump = { 0 };
	struct d_env env = {
		.arg = t,
		.probes = env_probes,
		.refusal = env_refusal,
		.args = env_args,
		.defined = env_defined,
		.text_bytes = env_text_bytes,
		.provider = env_provider,
		.module = env_module,
		.macro = env_macro,
		.option = env_option,
		.sizes = env_sizes,
		.no_process = t->kind == &engine_vm,
		.no_advice = t->o.flags & TALLY_TRACE_COMPAT,
		.bare_end = t->o.flags & TALLY_TRACE_COMPAT,
		.dump = t->dump,
		.dump_to = &dump,
	};
	int rc;

	if (!t->nsrc)
		return trace_fail(t, TALLY_EINVAL, "no probes specified");
	if (t->kind == &engine_kernel)
		env.counter = env_counter;
	env.dlibrary = env_library;
	env.own_libraries = options_text(&t->opt, OPT_libdir) != NULL;
	env_sizes(t, &env);
	rc = compile_all(t, &env);
	if (t->libraries.failed) { /* whatever the compiler says that it misses */
		t->err = t->why = (struct err){ 0 };
		rc = trace_nomem(t);
	}
	if (dump.n)
		buf_put(&t->out, dump.p, dump.n);
	t->out.failed |= dump.failed;
	buf_free(&dump);
	if (rc < 0 && !t->err.code)
		trace_fail(t, -rc, "%s", tally_strerror(rc));
	return rc < 0 ? rc : 0;
}

void compile_undo(struct tally_trace *t)
{
	bpf_image_free(t->img);
	d_close(t->unit);
	libraries_free(&t->libraries);
	probes_close(t->probes);
	t->img = NULL;
	t->unit = NULL;
	t->prog = NULL;
	t->probes = NULL;
}

const struct d_clause *clause_of_probe(const struct tally_trace *t, uint32_t probe)
{
	for (uint32_t c = 0; c < t->prog->nclauses; c++)
		for (uint32_t i = 0; i < t->prog->clause[c].nprobes; i++)
			if (t->prog->clause[c].probes[i] == probe)
				return &t->prog->clause[c];
	return NULL;
}

/* ---- the image ----------------------------------------------------------------- */

/* The frames for which kept stacks need room: stack(n) may ask for more than the option says. */
static uint32_t key_frames(const struct tally_trace *t, enum slot_kind kind, enum option option)
{
	const struct d_program *p = t->prog;
	uint64_t most = t->opt.v[option];

	for (uint32_t i = 0; i < p->naggs; i++)
		for (uint32_t k = 0; k < p->agg[i].nkeys; k++)
			if (p->agg[i].keys[k].kind == kind && p->agg[i].keys[k].frames > most)
				most = p->agg[i].keys[k].frames;
	/* Those of the kernel are kept with the frames that lead to the program, if there is room. */
	return frames_at_most(frames_at_most(most, frames_most(t)) + (kind == SLOT_KSTACK ? DISPATCH_FRAMES : 0),
			      frames_at_most(t->kind->frames(), D_FRAMES_MOST));
}

static uint32_t power_of_two(uint64_t n)
{
	uint32_t p = 4096;

	while (p < n && p < 1u << 30)
		p <<= 1;
	return p;
}

/* Rings are made of pages that must be zeroed before the first answer.  The control ring is read
 * after each firing of the tracer's own, so it has room for one of each clause, twice; those of the
 * CPUs are as large as asked for, and there only when events hand something over. */
static void ring_sizes(const struct tally_trace *t, struct bpf_opts *o)
{
	uint64_t total = 0, largest = 0;

	for (uint32_t c = 0; c < t->prog->nclauses; c++) {
		const struct d_clause *cl = &t->prog->clause[c];
		uint64_t size = cl->record_size + D_ERROR_RECORD;

		largest = size > largest ? size : largest;
		total += size * cl->nprobes;
	}
	o->control_bytes = power_of_two(2 * total > SMALL_RING ? 2 * total : SMALL_RING);
	o->ring_bytes = power_of_two(t->opt.v[OPT_bufsize] > 4 * largest ? t->opt.v[OPT_bufsize] : 4 * largest);
}

/* Which probes the clauses refer to, by id. */
bool *used_probes(struct tally_trace *t)
{
	bool *used = mem_alloc(probes_count(t->probes) + 1);

	for (uint32_t c = 0; used && c < t->prog->nclauses; c++)
		for (uint32_t i = 0; i < t->prog->clause[c].nprobes; i++)
			used[t->prog->clause[c].probes[i]] = true;
	return used;
}

static uint8_t class_of(const struct probe *p)
{
	static const uint8_t class[] = {
		[ARM_BEGIN] = IMG_TEST,
		[ARM_END] = IMG_TEST,
		[ARM_ERROR] = IMG_TEST,
		[ARM_TICK] = IMG_TEST,
		[ARM_EVENT] = IMG_PERF,
		[ARM_RECORD] = IMG_RECORD,
		[ARM_SAMPLE] = IMG_RECORD,
		[ARM_ENTRY] = IMG_ENTRY,
		[ARM_RETURN] = IMG_RETURN,
		[ARM_POINT] = IMG_POINT,
		[ARM_USER_ENTRY] = IMG_USER_ENTRY,
		[ARM_USER_RETURN] = IMG_USER_RETURN,
		[ARM_USER_PLACE] = IMG_USER_PLACE,
	};

	return class[p->arm];
}

/* What the code generator must know about them, in the order of their ids. */
static struct bpf_probe *describe_probes(struct tally_trace *t, uint32_t *n, uint32_t *error_probe)
{
	uint32_t count = probes_count(t->probes);
	struct bpf_probe *p = mem_alloc(count * sizeof(*p));
	bool *used = p ? used_probes(t) : NULL;
	uint32_t places[IMG_USER_PLACE + 1] = { 0 };

	*n = *error_probe = 0;
	for (uint32_t id = 1; used && id <= count; id++) {
		const struct probe *probe = probes_get(t->probes, id);

		if (!used[id])
			continue;
		if (probe->arm == ARM_ERROR)
			*error_probe = id;
		p[(*n)++] = (struct bpf_probe){
			.id = id,
			.cls = class_of(probe),
			.prov = probe->prov_name,
			.mod = probe->mod,
			.func = probe->func,
			.name = probe->name,
			.has_pc = probe->arm == ARM_EVENT,
			.has_data = probe->has_data,
			.more_args = probe->arm == ARM_SAMPLE,
			.call = probe->call,
			.point = probe->point,
			.npoints = probe->npoints,
		};
		if (probe->is_later)
			p[*n - 1].is_later = true;
		if (probe->place) {
			struct bpf_probe *last = &p[*n - 1];

			last->pid = probe->place->pid; /* 0: whichever comes there */
			last->place = &probe->place->b;
			last->cookie = places[last->cls];
			for (const struct user_place *at = probe->place; at; at = at->next)
				places[last->cls]++;
		}
	}
	if (!used) {
		mem_free(p);
		return NULL;
	}
	mem_free(used);
	return p;
}

int image_map(const struct tally_trace *t, uint8_t use, uint32_t id)
{
	for (uint32_t i = 0; i < t->img->nmaps; i++)
		if (t->img->map[i].use == use && t->img->map[i].id == id)
			return (int)i;
	return -1;
}

/* -S: each program with its instructions as the kernel gets them. */
static void list_image(struct tally_trace *t)
{
	for (uint32_t i = 0; i < t->img->nprogs + t->img->nparts; i++) {
		const bool part = i >= t->img->nprogs;
		const struct img_prog *p = part ? &t->img->part[i - t->img->nprogs] : &t->img->prog[i];
		const struct probe *probe = probes_get(t->probes, p->probe);

		buf_puts(&t->out, "Disassembly of clause ");
		if (probe && probe->id > 3)
			probe_text(&t->out, probe);
		else
			buf_printf(&t->out, ":::%s", probe ? probe->name : p->name);
		buf_puts(&t->out, part ? ", continued\n" : "\n");
		bpf_list(t->img, p, &t->out);
		buf_putc(&t->out, '\n');
	}
}

static void dump_image(struct tally_trace *t)
{
	for (uint32_t i = 0; i < t->img->nprogs; i++) {
		buf_printf(&t->out, "%s:\n", t->img->prog[i].name);
		bpf_disasm(t->img, &t->img->prog[i], &t->out);
	}
	for (uint32_t i = 0; i < t->img->nparts; i++) {
		buf_printf(&t->out, "part %u, %s:\n", i, t->img->part[i].name);
		bpf_disasm(t->img, &t->img->part[i], &t->out);
	}
}

/* Maps have room for one at least, and for 2^30 at most. */
static uint32_t entries_of(uint64_t n)
{
	return n < 1 ? 1 : n > 1u << 30 ? 1u << 30 : (uint32_t)n;
}

#define FUNCTIONS_MOST 4096u /* programs at functions of the kernel: each takes a millisecond to load and to attach */

static uint32_t count_functions(const struct bpf_probe *p, uint32_t n)
{
	uint32_t functions = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < p[i].npoints; k++)
			functions += p[i].point[k].at != POINT_TRACEPOINT;
	return functions;
}

int compile_image(struct tally_trace *t)
{
	uint64_t dev, ino;
	struct bpf_opts o = {
		.arch = t->kind->arch(),
		.agg_entries = entries_of(t->opt.v[OPT_aggsize] / AGG_KEY_BYTES),
		.dynvar_bytes = entries_of(t->opt.v[OPT_dynvarsize]),
		.nspec = (uint32_t)t->opt.v[OPT_nspec],
		.stack_entries = STACK_ENTRIES,
		.stackframes = key_frames(t, SLOT_KSTACK, OPT_stackframes),
		.ustackframes = key_frames(t, SLOT_USTACK, OPT_ustackframes),
		.generations = t->kind == &engine_kernel && k_tells_types(),
		.one_cpu = t->opt.v[OPT_cpu] != UINT32_MAX,
		.cpu = (uint32_t)t->opt.v[OPT_cpu],
		.follow_forks = t->opt.v[OPT_followforks],
		.sums = t->o.flags & TALLY_TRACE_SUMS,
		.errtags = t->opt.v[OPT_errtags],
		.temporal = t->kind == &engine_kernel && t->opt.v[OPT_temporal],
		.pid_ns = t->kind == &engine_kernel && k_in_pidns(&dev, &ino),
	};
	struct bpf_probe *p;
	uint32_t functions;
	int rc;

	if (o.one_cpu && o.cpu >= t->kind->ncpus())
		return trace_fail(t, TALLY_EINVAL, "failed to set -x cpu: there are CPUs 0 to %u",
				  t->kind->ncpus() - 1);
	if (!o.arch)
		return trace_fail(t, TALLY_ENOTSUP, "this machine's architecture is not supported yet");
	if (o.follow_forks && o.pid_ns)
		return trace_fail(
			t, TALLY_ENOTSUP,
			"-x followforks: this is a pid namespace, in which forks are not followed: run tally on the host");
	if ((rc = unwind_choose(t, &o)) < 0)
		return rc;
	ring_sizes(t, &o);
	p = describe_probes(t, &o.nprobes, &o.error_probe);
	if (!p)
		return trace_nomem(t);
	functions = count_functions(p, o.nprobes);
	if (functions > FUNCTIONS_MOST) {
		mem_free(p);
		return trace_fail(t, TALLY_ENOTSUP,
				  "%s%u probes at functions of the kernel are too many, %u are not: name fewer",
				  d_mark(t->opt.v[OPT_errtags], D_LIMIT), functions, FUNCTIONS_MOST);
	}
	if (functions)
		o.by_kprobe = probes_functions(t->probes, NULL) == K_FUNCTIONS_KPROBE;
	o.probe = p;
	rc = bpf_generate(t->prog, &o, &t->img, &t->err);
	mem_free(p);
	if (rc >= 0 && t->dump && !strcmp(t->dump, "bpf"))
		dump_image(t);
	else if (rc >= 0 && t->opt.v[OPT_verbose])
		list_image(t);
	return rc < 0 ? trace_fail(t, -rc, "%s", tally_strerror(rc)) : 0;
}

/* ---- the command of -c ------------------------------------------------------------ */

int child_ready(struct tally_trace *t)
{
	struct err e = { 0 };
	char **env;
	uint32_t n = 0;
	int rc;

	if (t->has_child || !t->command)
		return 0;
	env = mem_alloc((t->opt.ntexts + 1) * sizeof(*env));
	if (!env)
		return trace_nomem(t);
	for (uint32_t i = 0; i < t->opt.ntexts; i++)
		if (t->opt.text[i].option == OPT_setenv || t->opt.text[i].option == OPT_unsetenv)
			env[n++] = t->opt.text[i].text;
	rc = k_child_start(t->command, env, &t->child, &e);
	mem_free(env);
	if (rc < 0)
		return trace_fail(t, -rc, "failed to start '%s': %s", t->command, e.text);
	t->has_child = true;
	return 0;
}
