/*
 * run.c: the order of a run, and its loop.
 *
 *	go    load; attach events, disabled; BEGIN; enable; release the command
 *	work  wait; processes, ticks, records; look whether it is over
 *	stop  disable; what is left; END; what was lost; aggregations
 *
 * Probes are attached before BEGIN fires and its records are read after the
 * enabling, so that an enabling that fails has printed nothing.  BEGIN, END and
 * tick fire from here, one after the other and never while records are read.
 *
 * Processes are noted before records are read: a record's symbols need the
 * mappings that its process had.  Those of the processes that were there
 * before are read a few per turn, so that a large machine delays no output.
 *
 * A source of records (ptt_records.c, hv_records.c) decides about waiting itself: a turn fires some of them.
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "facts/event.h"
#include "session/session_int.h"

#define NEWCOMERS_PER_TURN 64
#define UNWIND_TURN_MS 10 /* the stacks of a new process are cut until it is looked at */
/* Expirations that are made up for, and for how long: the rest is skipped, aloud. A tick that prints for longer than it
 * lasts must not keep an interrupt waiting. */
#define TICK_BURST 64
#define TICK_BURST_NS 100000000u
#define COMMAND_FAILS_NS 1000000000u /* a command that was not started has ended by then */

static const struct probe *probe_of(const struct tally_trace *t, uint32_t prog)
{
	return probes_get(t->probes, t->img->prog[prog].probe);
}

/* ---- go ---------------------------------------------------------------------- */

/* dtrace(1)'s words name the source; the reason is already in t->why. */
static int fail_enable(struct tally_trace *t, uint32_t probe, int rc)
{
	const struct d_clause *c = clause_of_probe(t, probe);

	return trace_fail(t, -rc, "failed to enable '%s': Failed to enable probe", c ? t->src[c->source].label : "");
}

/* -x bpflog: each line that the verifier said. */
static void tell_verifier(struct tally_trace *t, struct buf *log)
{
	for (size_t at = 0, n; at < log->n; at += n + 1) {
		n = strcspn(log->p + at, "\n");
		buf_printf(&t->out, "BPF: %.*s\n", (int)n, log->p + at);
	}
	buf_free(log);
}

static int open_engine(struct tally_trace *t)
{
	struct img_ctl ctl = { .wall_offset_ns = k_wall_offset_ns() };
	struct buf log = { 0 };
	const struct k_run_opts o = { .stop = t->o.stop,
				      .log = t->opt.v[OPT_bpflog] ? &log : NULL,
				      .data = t->prog->uses_data_symbols };
	struct err e = { 0 };
	int rc;

	if (t->kind == &engine_kernel)
		(void)k_in_pidns(&ctl.pidns_dev, &ctl.pidns_ino);
	rc = t->kind->open(&t->eng, t->img, &ctl, &o, &e);
	tell_verifier(t, &log);
	return rc < 0 ?
		       trace_fail(t, -rc, "%s%s", rc == -TALLY_EVERIFY ? d_mark(t->opt.v[OPT_errtags], D_VERIFIER) : "",
				  e.code ? e.text : tally_strerror(rc)) :
		       0;
}

/* Hardware counters are taken by lease: counting of whole CPUs and D exclude each other, and counting of processes
 * yields (dtrace_cpc.txt, "Co-existence with existing tools"). */
static int take_lease(struct tally_trace *t, const struct k_event *ev, uint32_t n)
{
	for (uint32_t i = 0; i < n && !t->lease && !t->opt.v[OPT_cpcshare]; i++)
		if (ev[i].counter) {
			int rc = holder_take(&t->lease, LEASE_TRACE, &t->why);

			if (rc < 0)
				return rc;
			if (lease_unkept(t->lease))
				trace_note(t, HOLDER_UNKEPT, lease_unkept(t->lease));
		}
	return 0;
}

static int attach_events(struct tally_trace *t, uint32_t prog)
{
	const struct probe *p = probe_of(t, prog);
	int rc = take_lease(t, p->event, p->nevents);

	for (uint32_t i = 0; rc >= 0 && i < p->nevents; i++)
		rc = t->eng->ops->attach(t->eng, prog, &p->event[i], &t->why);
	return rc < 0 ? fail_enable(t, p->id, rc) : 0;
}

/* What counter() and vcounter() read counts from before BEGIN on. */
static int count_events(struct tally_trace *t)
{
	struct prov_count found;
	int rc = 0;

	for (uint32_t m = 0; rc >= 0 && m < t->img->nmaps; m++) {
		const struct img_map *map = &t->img->map[m];
		const char *event = map->type == IMG_EVENTS ? t->prog->counter[map->id].event : NULL;

		if (!event)
			continue;
		rc = prov_counter(t->probes, event, &found, &t->why);
		if (rc >= 0)
			rc = take_lease(t, found.ev, found.n);
		for (uint32_t i = 0; rc >= 0 && i < found.n; i++)
			rc = k_count(t->eng->k, m, &found.ev[i], &t->why);
		if (rc < 0)
			return trace_fail(t, -rc, "failed to count \"%s\"", event);
	}
	rc = t->eng->k ? k_count_threads(t->eng->k, &t->why) : 0;
	return rc < 0 ? trace_fail(t, -rc, "failed to follow threads") : 0;
}

static int add_tick(struct tally_trace *t, uint32_t prog)
{
	const struct probe *p = probe_of(t, prog);
	struct tick *tick = VEC_NEW(t->tick, t->nticks, t->captick);

	if (!tick)
		return trace_nomem(t);
	*tick = (struct tick){ .prog = prog, .probe = p };
	tick->timer = t->eng->ops->timer(t->eng, p->tick_ns, &t->why);
	return tick->timer < 0 ? fail_enable(t, p->id, tick->timer) : 0;
}

/* One program for all probes of its arm: whose turn it is it finds by the call's number. */
static int attach_calls(struct tally_trace *t, uint32_t prog)
{
	const struct probe *p = probe_of(t, prog);
	int rc = t->eng->ops->point(t->eng, prog, p->arm == ARM_ENTRY ? "sys_enter" : "sys_exit", &t->why);

	return rc < 0 ? fail_enable(t, p->id, rc) : 0;
}

static int attach_point(struct tally_trace *t, uint32_t prog)
{
	const struct probe *p = probe_of(t, prog);
	int rc = t->eng->ops->point(t->eng, prog, p->point[t->img->prog[prog].point].name, &t->why);

	return rc < 0 ? fail_enable(t, p->id, rc) : 0;
}

/* Places that are still to be armed: those of NULL are. */
struct places {
	struct place_of {
		const struct user_place *place;
		struct k_place k;
	} * v;
	uint32_t n, cap;
};

/* Those of an arm, with their cookies: numbers in the order of their probes' ids, as compile.c has given them. */
static int places_gather(struct tally_trace *t, uint8_t arm, struct places *all)
{
	const uint32_t count = probes_count(t->probes);
	bool *used = used_probes(t);
	uint32_t cookie = 0;
	int rc = used ? 0 : trace_nomem(t);

	for (uint32_t id = 1; rc == 0 && id <= count; id++) {
		const struct probe *p = probes_get(t->probes, id);

		for (const struct user_place *at = used[id] && p->arm == arm ? p->place : NULL; rc == 0 && at;
		     at = at->next) {
			struct place_of *to = VEC_NEW(all->v, all->n, all->cap);

			if (to)
				*to = (struct place_of){ at, { at->offset, at->semaphore, cookie++, at->by_pattern } };
			else
				rc = trace_nomem(t);
		}
	}
	mem_free(used);
	return rc;
}

/* Takes those out of `all` that are in the same file of the same process as number i: the refused ones first. */
static int places_take_group(struct tally_trace *t, struct places *all, uint32_t i, struct k_places *group)
{
	const struct user_place *first = all->v[i].place;
	struct k_place *k = arena_alloc(&t->img->arena, (all->n - i) * sizeof(*k));

	if (!k)
		return trace_nomem(t);
	group->pid = t->opt.v[OPT_followforks] ? 0 : first->pid;
	group->fd = first->file->fd;
	group->name = first->file->path;
	group->place = k;
	for (int refused = 1; refused >= 0; refused--) {
		for (uint32_t j = i; j < all->n; j++) {
			struct place_of *at = &all->v[j];

			if (at->place && at->place->file == first->file && at->place->refused == refused) {
				k[group->n++] = at->k;
				at->place = NULL;
			}
		}
		group->nrefused = refused ? group->n : group->nrefused;
	}
	return 0;
}

/* One program for all probes of its arm, which it tells apart by cookies. Each file of each process is armed as one. */
static int attach_places(struct tally_trace *t, uint32_t prog)
{
	const uint8_t arm = probe_of(t, prog)->arm;
	struct places all = { 0 };
	int rc = places_gather(t, arm, &all);

	for (uint32_t i = 0; rc == 0 && i < all.n; i++) {
		struct k_places group = { .at_return = arm == ARM_USER_RETURN };

		if (!all.v[i].place)
			continue;
		if ((rc = places_take_group(t, &all, i, &group)) < 0)
			break;
		if ((rc = t->eng->ops->places(t->eng, prog, &group, &t->why)) < 0)
			rc = fail_enable(t, t->img->prog[prog].probe, rc);
	}
	mem_free(all.v);
	return rc;
}

/* Counters that can't tell which of them overflowed serve one probe (dtrace_cpc.txt, section 3). */
static int check_compatible(struct tally_trace *t)
{
	uint32_t n = 0, *ids = mem_alloc(t->img->nprogs * sizeof(*ids));
	int rc;

	if (!ids)
		return trace_nomem(t);
	for (uint32_t i = 0; i < t->img->nprogs; i++)
		if (probe_of(t, i)->arm == ARM_EVENT)
			ids[n++] = t->img->prog[i].probe;
	rc = n ? probes_compatible(t->probes, ids, n, &t->why) : 0;
	if (rc < 0)
		rc = fail_enable(t, ids[n - 1], rc);
	mem_free(ids);
	return rc;
}

static bool run_watches_mappings(const struct tally_trace *t)
{
	return t->eng->k && (t->prog->uses_user_symbols || t->unwind);
}

static int run_arm(struct tally_trace *t)
{
	int rc = check_compatible(t);
	struct err e = { 0 };

	if (rc >= 0)
		rc = count_events(t);

	for (uint32_t i = 0; rc >= 0 && i < t->img->nprogs; i++) {
		const struct probe *p = probe_of(t, i);

		if (p->nevents)
			rc = attach_events(t, i);
		else if (p->arm == ARM_TICK)
			rc = add_tick(t, i);
		else if (p->call && p->arm != ARM_ENTRY)
			rc = attach_calls(t, i);
		else if (p->arm == ARM_POINT)
			rc = attach_point(t, i);
		else if (p->place || p->is_later)
			rc = attach_places(t, i);
	}
	if (rc >= 0)
		rc = later_hold(t);
	/* Behind those of ends: what a call's beginning sets off is seen to end. */
	for (uint32_t i = 0; rc >= 0 && i < t->img->nprogs; i++)
		if (probe_of(t, i)->call && probe_of(t, i)->arm == ARM_ENTRY)
			rc = attach_calls(t, i);
	if (rc >= 0 && run_watches_mappings(t)) {
		rc = k_task_watch(t->eng->k, &e);
		if (rc < 0)
			trace_fail(t, -rc, "failed to watch processes: %s", e.text);
		t->watched_ns = k_task_generations(t->eng->k) ? k_now_ns() : 0;
		if (rc >= 0 && t->has_child && t->child.held && trace_symbols(t) >= 0)
			(void)sym_look(t->sym, (uint32_t)t->child.pid); /* it has had its exec, of which nobody told */
		if (rc >= 0)
			rc = unwind_watch(t);
	}
	return rc;
}

/* dtrace(1) traces a command from its main() on, tally from its exec: who counts wants all of it. */
static void target_hold(struct tally_trace *t)
{
	const enum evaltime when = options_evaltime(&t->opt, t->o.flags & TALLY_TRACE_COMPAT ? EVAL_MAIN : EVAL_EXEC);
	struct err e = { 0 };

	if (t->has_child && !t->child.held && t->eng->k && when != EVAL_EXEC &&
	    k_child_hold(&t->child, when == EVAL_PREINIT ? K_HOLD_ENTRY : K_HOLD_MAIN, &e) < 0)
		trace_note(t, "the command is traced from an earlier place on than its main(): %s", e.text);
}

static int target_watch(struct tally_trace *t)
{
	int rc = child_ready(t), fd;

	if (rc >= 0)
		target_hold(t);
	fd = t->has_child ? t->child.pidfd : t->pidfd;

	if (rc >= 0 && t->eng->k && fd >= 0)
		rc = k_watch_fd(t->eng->k, fd);
	return rc < 0 ? trace_fail(t, -rc, "failed to watch the process: %s", tally_strerror(rc)) : 0;
}

static void note_matched(struct tally_trace *t)
{
	static const struct an_column col[] = { { "source", "", AN_TEXT }, { "probes", "", AN_COUNT } };

	for (uint32_t s = 0; s < t->nsrc && !is_quiet(t); s++) {
		uint32_t n = 0;

		for (uint32_t c = 0; c < t->prog->nclauses; c++)
			for (uint32_t i = 0; t->prog->clause[c].source == s && i < t->prog->clause[c].nprobes; i++)
				n += !probes_get(t->probes, t->prog->clause[c].probes[i])->is_later;
		an_event(&t->emit,
			 &(struct an_event){ "matched", col, (struct an_cell[]){ AN_S(t->src[s].label), AN_U(n) },
					     COUNT(col) },
			 "%s '%s' matched %u probe%s", t->src[s].name ? "script" : "description", t->src[s].label, n,
			 n == 1 ? "" : "s");
	}
}

static void see_exit(struct tally_trace *t)
{
	int status;

	if (t->eng->ops->exited(t->eng, &status)) {
		t->exited = t->over = true;
		t->status = status;
	}
}

static int run_fire_program(struct tally_trace *t, uint32_t prog)
{
	struct err e = { 0 };
	int rc = t->eng->ops->fire(t->eng, prog, &e);

	return rc < 0 ? trace_fail(t, -rc, "failed to fire %s: %s", probe_of(t, prog)->name, e.text) : 0;
}

/* All probes of an arm: BEGIN or END. */
static int fire_all(struct tally_trace *t, enum prov_arm arm)
{
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < t->img->nprogs; i++)
		if (probe_of(t, i)->arm == arm)
			rc = run_fire_program(t, i);
	see_exit(t);
	return rc;
}

static uint32_t first_event_probe(const struct tally_trace *t)
{
	for (uint32_t i = 0; i < t->img->nprogs; i++)
		if (probe_of(t, i)->arm == ARM_EVENT || probe_of(t, i)->place || probe_of(t, i)->is_later)
			return t->img->prog[i].probe;
	return t->img->nprogs ? t->img->prog[0].probe : 0;
}

/* Lets the command go. One that can't be run ends at once, with the shell's status for that. Where stacks are walked by
 * tables, it stands still once more, behind its loader, until the tables of what is mapped by then are there: it may be
 * over before anybody asks for them. */
static int run_release_command(struct tally_trace *t)
{
	struct err e = { 0 };
	int rc = 0;

	if (t->unwind && !t->child.held && k_child_hold(&t->child, K_HOLD_ENTRY, &e) >= 0)
		unwind_look(t->unwind, (uint32_t)t->child.pid);
	rc = k_child_release(&t->child, &e);
	if (rc >= 0)
		return 0;
	(void)k_child_wait(&t->child, k_now_ns() + COMMAND_FAILS_NS, NULL);
	t->child_ended = k_child_status(&t->child, &t->child_status) == 1;
	return trace_fail(t, -rc, "failed to start '%s': %s", t->command, e.text);
}

static int run_enable_probes(struct tally_trace *t)
{
	int rc = t->eng->ops->start(t->eng, &t->why);
	uint32_t refused;

	if (rc < 0)
		return fail_enable(t, first_event_probe(t), rc);
	if (t->eng->k && (refused = k_places_refused(t->eng->k)) != 0 &&
	    !(is_quiet(t) && t->o.flags & TALLY_TRACE_COMPAT)) /* dtrace(1) never says so */
		trace_note(t, "%u probe%s of a pattern left out: the kernel can't place a probe on such an instruction",
			   refused, refused == 1 ? "" : "s");
	if (t->eng->k && (refused = k_points_refused(t->eng->k)) != 0 &&
	    !(is_quiet(t) && t->o.flags & TALLY_TRACE_COMPAT))
		trace_note(t, "%u probe%s of a pattern left out: the kernel lets nobody probe such a function", refused,
			   refused == 1 ? "" : "s");
	if (t->eng->k && t->prog->uses_user_symbols) {
		/* A command stands before its exec: what it does until then has names of our own code. */
		const uint32_t target = t->has_child ? (uint32_t)t->child.pid : (uint32_t)t->pid;

		if (target && trace_symbols(t) >= 0)
			(void)sym_look(t->sym, target);
		(void)k_task_pids(&t->newcomer, &t->nnewcomers);
	}
	return t->has_child ? run_release_command(t) : 0;
}

static void run_take_fact(void *arg, const struct k_task *fact)
{
	struct tally_trace *t = arg;

	sym_task(t->sym, fact);
	if (t->unwind)
		unwind_task(t, fact);
}

/* What is named next was seen before now: what happened to mappings until now comes first. */
int run_learn_mappings(struct tally_trace *t)
{
	int rc;

	if (!run_watches_mappings(t))
		return 0;
	if (trace_symbols(t) < 0)
		return trace_nomem(t);
	rc = k_task_drain(t->eng->k, run_take_fact, t);
	unwind_turn(t);
	return rc < 0 ? rc : 0;
}

static int run_drain(struct tally_trace *t)
{
	int rc;

	t->learned = false;
	rc = t->eng->ops->drain(t->eng, record_take, t);
	spec_free_settled(t);
	return rc < 0 && !t->err.code ? trace_fail(t, -rc, "failed to read records: %s", tally_strerror(rc)) : rc;
}

/* dtrace(1) refuses an enabling whose record its buffer could never hold, with so many bytes of its own around it. */
#define RECORD_AROUND 36u
static int check_buffer(struct tally_trace *t)
{
	for (uint32_t c = 0; c < t->prog->nclauses; c++)
		if (t->prog->clause[c].record_size + RECORD_AROUND > t->opt.v[OPT_bufsize]) {
			err_set(&t->why, TALLY_ENOTSUP,
				"the record of the clause at line %u has %u bytes "
				"with what stands around it, and bufsize is %llu",
				t->prog->clause[c].line, t->prog->clause[c].record_size + RECORD_AROUND,
				(unsigned long long)t->opt.v[OPT_bufsize]);
			return trace_fail(t, TALLY_EINVAL,
					  "could not enable tracing: %sEnabling exceeds size of buffer",
					  d_mark(t->opt.v[OPT_errtags], D_LIMIT));
		}
	return 0;
}

/* What changes more than what is printed is done with -w alone. */
int session_check_rights(struct tally_trace *t)
{
	if (!t->prog->destructive || t->opt.v[OPT_destructive])
		return 0;
	if (!(t->o.flags & TALLY_TRACE_COMPAT))
		err_set(&t->why, TALLY_EINVAL,
			"the program has actions that change the system: '#pragma D option destructive' in it "
			"allows them, or -w of 'tally trace'");
	return trace_fail(t, TALLY_EINVAL, "could not enable tracing: %sDestructive actions not allowed",
			  d_mark(t->opt.v[OPT_errtags], D_DESTRUCTIVE));
}

void run_take_options(struct tally_trace *t)
{
	t->emit.quiet =
		is_quiet(t) || t->emit.ops->finish; /* beside a document stands what the program prints, and no more */
	t->emit.title = t->nsrc ? t->src[0].label : NULL;
	t->emit.flowindent = t->opt.v[OPT_flowindent];
	t->emit.unnumbered = t->o.flags & TALLY_TRACE_UNNUMBERED;
	t->emit.stackindent = (uint32_t)t->opt.v[OPT_stackindent];
}

/* What a profile says of its samples: of one event that fires probes, how much of it lies between two firings. */
static void run_tell_period(struct tally_trace *t)
{
	const uint64_t clocks[] = { event_find("cpu_clock")->config, event_find("task_clock")->config };
	const struct probe *only = NULL;
	struct an_pprof *about = &t->emit.about;

	for (uint32_t c = 0; c < t->prog->nclauses; c++)
		for (uint32_t i = 0; i < t->prog->clause[c].nprobes; i++) {
			const struct probe *p = probes_get(t->probes, t->prog->clause[c].probes[i]);

			if (p->arm != ARM_EVENT || p == only)
				continue;
			if (only)
				return;
			only = p;
		}
	if (!only || only->nevents != 1)
		return;
	const struct k_event *e = only->event;
	const bool clock = e->type == EVENT_TYPE_SW && (e->config == clocks[0] || e->config == clocks[1]);

	about->period = e->period ? e->period : clock && e->freq ? 1000000000 / e->freq : 0;
	about->period_unit = clock ? "nanoseconds" : "count";
	about->period_type = clock ? "cpu" : only->name;
}

int run_go(struct tally_trace *t)
{
	const bool compat = t->o.flags & TALLY_TRACE_COMPAT;
	int rc;

	run_take_options(t);
	run_tell_period(t);
	if (compat) /* it says so before it knows whether it can trace */
		note_matched(t);
	rc = check_buffer(t);
	if (rc >= 0)
		rc = session_check_rights(t);
	if (rc >= 0)
		rc = open_engine(t);
	if (rc >= 0)
		rc = aggs_open(t);
	if (rc >= 0)
		rc = unwind_open(t);
	if (rc >= 0)
		rc = spec_open(t);
	if (rc >= 0)
		rc = run_arm(t);
	if (rc >= 0 && t->records)
		rc = t->records->ops->start(t);
	if (rc >= 0)
		rc = target_watch(t);
	if (rc >= 0 && !compat)
		note_matched(t);
	if (rc >= 0 && t->opt.v[OPT_destructive] && !is_quiet(t))
		trace_note(t, "allowing destructive actions");
	if (rc >= 0)
		rc = fire_all(t, ARM_BEGIN);
	if (t->eng && t->eng->k)
		t->emit.about.began_ns = k_now_ns() + (uint64_t)k_wall_offset_ns();
	if (rc >= 0 && !t->over)
		rc = run_enable_probes(t);
	if (rc >= 0)
		rc = run_drain(t);
	return rc < 0 ? rc : 0;
}

/* ---- work --------------------------------------------------------------------- */

static int take_newcomers(struct tally_trace *t)
{
	int rc = t->inewcomer < t->nnewcomers ? run_learn_mappings(t) : 0;

	for (int n = 0; n < NEWCOMERS_PER_TURN && t->inewcomer < t->nnewcomers; n++) {
		uint32_t pid = t->newcomer[t->inewcomer++];

		if (trace_symbols(t) >= 0 && !sym_knows(t->sym, pid))
			(void)sym_look(t->sym, pid);
	}
	return rc;
}

static int fire_tick(struct tally_trace *t, const struct tick *tick)
{
	uint64_t n = t->eng->ops->timer_fired(t->eng, tick->timer);
	uint64_t todo = n < TICK_BURST ? n : TICK_BURST, done = 0;
	const uint64_t until = t->eng->k ? k_now_ns() + TICK_BURST_NS : UINT64_MAX;
	int rc = 0;

	while (rc >= 0 && done < todo && !t->over && (done == 0 || until == UINT64_MAX || k_now_ns() < until)) {
		rc = run_fire_program(t, tick->prog);
		if (rc >= 0)
			rc = run_drain(t);
		see_exit(t);
		done++;
	}
	if (n > done && !t->over && rc >= 0) {
		t->late_ticks += n - done;
		trace_note(t, "%llu firings of %s skipped: the tracer was late", (unsigned long long)(n - done),
			   tick->probe->name);
	}
	return rc;
}

static void see_target(struct tally_trace *t)
{
	struct pollfd p = { .fd = t->pidfd, .events = POLLIN };

	if (t->has_child && !t->child_ended && k_child_status(&t->child, &t->child_status) == 1)
		t->child_ended = true;
	if (t->child_ended || (t->pidfd >= 0 && poll(&p, 1, 0) == 1))
		t->over = true;
}

/* What is looked at now and then: CPUs and drops. */
static int status_turn(struct tally_trace *t)
{
	struct err e = { 0 };
	uint64_t now;

	if (!t->eng->k)
		return 0;
	now = k_now_ns();
	if (now < t->turn_ns)
		return 0;
	t->turn_ns = now + t->opt.v[OPT_statusrate];
	if (k_hotplug(t->eng->k, &e) < 0)
		trace_note(t, "%s", e.text);
	return drops_report_due(t, now);
}

static int wait_ms(const struct tally_trace *t, int timeout_ms)
{
	uint64_t least = t->opt.v[OPT_switchrate] < t->opt.v[OPT_statusrate] ? t->opt.v[OPT_switchrate] :
									       t->opt.v[OPT_statusrate];
	uint64_t ms = least / 1000000;

	if (t->unwind && ms > UNWIND_TURN_MS)
		ms = UNWIND_TURN_MS;
	if (t->inewcomer < t->nnewcomers)
		return 0;
	return timeout_ms < 0 || (uint64_t)timeout_ms > ms ? (int)(ms < INT32_MAX ? ms : INT32_MAX) : timeout_ms;
}

/* What aggregations hold is looked at then, and shown until the next time. */
static int aggs_turn(struct tally_trace *t)
{
	const uint64_t rate = t->opt.v[OPT_aggrate], now = aggs_stay(t) && t->eng->k ? k_now_ns() : 0;

	if (now < t->aggs_ns || !now)
		return 0;
	const bool first = !t->aggs_ns;

	t->aggs_ns = now - (first ? 0 : (now - t->aggs_ns) % rate) + rate;
	return first ? 0 : aggs_look_again(t);
}

int run_work(struct tally_trace *t, int timeout_ms)
{
	int rc;

	if (t->over)
		return 1;
	rc = take_newcomers(t);
	if (rc < 0)
		return rc;
	rc = t->records ? t->records->ops->turn(t, wait_ms(t, timeout_ms)) :
			  t->eng->ops->wait(t->eng, wait_ms(t, timeout_ms));
	if (rc == -TALLY_EEND && t->has_child && !t->records) { /* nothing but the end of the command is left to come */
		(void)poll(&(struct pollfd){ .fd = t->child.pidfd, .events = POLLIN }, 1, wait_ms(t, timeout_ms));
		see_target(t);
		return t->over;
	}
	if (rc == -TALLY_EEND)
		return t->over = true;
	if (rc < 0)
		return trace_fail(t, -rc, "failed to wait: %s", tally_strerror(rc));
	rc = later_turn(t);
	if (rc < 0)
		return rc;
	see_target(t); /* before the drain: what it did is then all there */
	rc = run_learn_mappings(t);
	for (uint32_t i = 0; rc >= 0 && i < t->nticks && !t->over; i++)
		rc = fire_tick(t, &t->tick[i]);
	if (rc >= 0)
		rc = aggs_turn(t);
	if (rc >= 0)
		rc = run_drain(t);
	if (rc >= 0)
		rc = status_turn(t);
	see_exit(t);
	return rc < 0 ? rc : t->over;
}

/* ---- stop ------------------------------------------------------------------------ */

/* The first error stays; what can still be shown is shown. */
static void run_keep_error(int *rc, int next)
{
	if (*rc >= 0 && next < 0)
		*rc = next;
}

static void give_back(struct tally_trace *t)
{
	lease_free(t->lease);
	t->lease = NULL;
}

int run_stop(struct tally_trace *t)
{
	int rc = 0;

	run_keep_error(&rc, t->eng->ops->stop(t->eng));
	if (t->eng->k)
		t->emit.about.lasted_ns = k_now_ns() + (uint64_t)k_wall_offset_ns() - t->emit.about.began_ns;
	give_back(t);
	run_keep_error(&rc, run_learn_mappings(t));
	run_keep_error(&rc, run_drain(t));
	run_keep_error(&rc, fire_all(t, ARM_END));
	run_keep_error(&rc, run_drain(t));
	run_keep_error(&rc, spec_settle_rest(t));
	if (t->packets_of) /* what is said at the end is no packet */
		run_keep_error(&rc, trace_redirect(t, ""));
	run_keep_error(&rc, losses_take(t));
	run_keep_error(&rc, drops_report(t));
	losses_report(t);
	later_report(t);
	if (t->records)
		t->records->ops->report(t);
	run_keep_error(&rc, aggs_print_rest(t));
	if (t->sym && *sym_kernel_hidden(t->sym))
		trace_note(t, "kernel addresses have no names: %s", sym_kernel_hidden(t->sym));
	if (t->sym && sym_lost(t->sym))
		trace_note(t, "%llu mappings of processes lost: some user symbols may be missing",
			   (unsigned long long)sym_lost(t->sym));
	mappings_report(t);
	unwind_report(t);
	run_keep_error(&rc, trace_finish(t));
	return rc < 0 && !t->err.code ? trace_fail(t, -rc, "%s", tally_strerror(rc)) : rc;
}

void run_undo(struct tally_trace *t)
{
	aggs_close(t);
	spec_close(t);
	unwind_close(t);
	give_back(t);
	if (t->eng)
		t->eng->ops->close(t->eng);
	sym_close(t->sym);
	mem_free(t->tick);
	mem_free(t->newcomer);
	mem_free(t->drops);
	mem_free(t->lost);
	an_emit_close(&t->emit);
	arena_free(&t->rec);
	t->eng = NULL;
	t->sym = NULL;
	t->tick = NULL;
	t->newcomer = NULL;
	t->drops = NULL;
	t->lost = NULL;
	t->nticks = t->captick = t->nnewcomers = t->inewcomer = t->nlost = t->caplost = t->ilost = 0;
	t->drops_ns = 0;
	t->over = t->exited = false;
}

void run_close(struct tally_trace *t)
{
	run_undo(t);
	if (t->has_child)
		k_child_kill(&t->child);
	if (t->pidfd >= 0)
		close(t->pidfd);
	t->has_child = false;
	t->pidfd = -1;
}
