/*
 * engine.c: where programs run.
 *
 * The same image runs in the kernel or in the vm; the rest of session/ sees
 * one small table of functions.  What only a kernel has (processes, CPUs that
 * come and go, counts of events) is reached through engine.k, which is NULL
 * in the vm.
 *
 * The vm's clock is virtual: it stands still while a program runs and jumps to the next tick when the session waits, so
 * that a script of BEGIN, tick and END gives the same answer each time and takes no longer than its work.  When nothing
 * is left that could happen, wait says so.  Records of a file come in the same way: their time moves the clock, their
 * end ends the run (ptt_records.c). Of a hypervisor's counters it is the platform's time (hv_records.c).
 */
#include <string.h>
#include <unistd.h>

#include "session/session_int.h"

/* ---- the kernel -------------------------------------------------------------- */

static void kernel_close(struct engine *g)
{
	k_close(g->k);
	mem_free(g);
}

static struct maps kernel_maps(struct engine *g)
{
	return k_maps(g->k);
}

static bool kernel_exited(struct engine *g, int *status)
{
	const struct img_ctl *ctl = k_ctl(g->k);

	if (!ctl || !__atomic_load_n(&ctl->exited, __ATOMIC_ACQUIRE))
		return false;
	*status = (int)__atomic_load_n(&ctl->status, __ATOMIC_RELAXED);
	return true;
}

static int kernel_fire(struct engine *g, uint32_t prog, struct err *e)
{
	return k_test_run(g->k, prog, e);
}

static int kernel_attach(struct engine *g, uint32_t prog, const struct k_event *ev, struct err *e)
{
	return k_attach(g->k, prog, ev, e);
}

static int kernel_point(struct engine *g, uint32_t prog, const char *tracepoint, struct err *e)
{
	return k_attach_point(g->k, prog, tracepoint, e);
}

static int kernel_places(struct engine *g, uint32_t prog, const struct k_places *p, struct err *e)
{
	return k_attach_places(g->k, prog, p, e);
}

static int kernel_timer(struct engine *g, uint64_t period_ns, struct err *e)
{
	return k_timer(g->k, period_ns, e);
}

static uint64_t kernel_timer_fired(struct engine *g, int timer)
{
	return k_timer_fired(g->k, timer);
}

static int kernel_start(struct engine *g, struct err *e)
{
	return k_enable(g->k, e);
}

static int kernel_stop(struct engine *g)
{
	return k_disable(g->k);
}

static int kernel_wait(struct engine *g, int timeout_ms)
{
	return k_wait(g->k, timeout_ms);
}

static int kernel_drain(struct engine *g, record_sink *sink, void *arg)
{
	return k_drain(g->k, sink, arg);
}

static const struct engine_ops kernel_ops = {
	.close = kernel_close,
	.maps = kernel_maps,
	.exited = kernel_exited,
	.fire = kernel_fire,
	.attach = kernel_attach,
	.point = kernel_point,
	.places = kernel_places,
	.timer = kernel_timer,
	.timer_fired = kernel_timer_fired,
	.start = kernel_start,
	.stop = kernel_stop,
	.wait = kernel_wait,
	.drain = kernel_drain,
};

static int kernel_open(struct engine **ret, const struct bpf_image *img, const struct img_ctl *ctl,
		       const struct k_run_opts *o, struct err *e)
{
	struct engine *g = mem_alloc(sizeof(*g));
	int rc;

	if (!g)
		return err_oom(e);
	g->ops = &kernel_ops;
	rc = k_open(&g->k, img, o, e);
	if (rc < 0) {
		mem_free(g);
		return rc;
	}
	if (k_ctl(g->k))
		*k_ctl(g->k) = *ctl;
	*ret = g;
	return 0;
}

const struct engine_kind engine_kernel = {
	.arch = k_arch, .ncpus = k_ncpus_possible, .frames = k_stack_frames, .open = kernel_open
};

/* ---- the vm --------------------------------------------------------------------- */

#define VM_CPUS 1
#define VM_FIRING_NS 1000       /* how long a firing takes on the virtual clock */
#define VM_MAX_INSNS (1u << 26) /* code without loops ends; this ends whatever doesn't */

struct vm_timer {
	uint64_t period_ns, next_ns;
};
struct vm_engine {
	struct engine base;
	struct vm *vm;
	uint32_t ctl; /* the image's control map */
	uint64_t now_ns, start_ns;
	struct vm_cpu record; /* who a record is: nobody */
	struct vm_timer *timer;
	uint32_t ntimers, captimer;
};

static struct vm_engine *vm_of(struct engine *g)
{
	return (struct vm_engine *)g; /* base is first */
}

static void vme_close(struct engine *g)
{
	vm_close(vm_of(g)->vm);
	mem_free(vm_of(g)->timer);
	mem_free(g);
}

static struct maps vme_maps(struct engine *g)
{
	return vm_maps(vm_of(g)->vm);
}

static bool vme_exited(struct engine *g, int *status)
{
	struct maps m = vme_maps(g);
	struct img_ctl ctl;
	uint32_t zero = 0;

	if (m.ops->lookup(m.maps, vm_of(g)->ctl, &zero, &ctl) < 0 || !ctl.exited)
		return false;
	*status = (int)ctl.status;
	return true;
}

static int vme_fire(struct engine *g, uint32_t prog, struct err *e)
{
	struct vm_engine *v = vm_of(g);
	struct vm_cpu cpu = {
		.pid = getpid(),
		.tid = getpid(),
		.ppid = getppid(),
		.uid = getuid(),
		.gid = getgid(),
		.comm = "tally",
		.mono_ns = v->now_ns,
		.vtime_ns = v->now_ns,
	};
	int rc = vm_run(v->vm, prog, &cpu, VM_MAX_INSNS, e);

	v->now_ns += VM_FIRING_NS;
	return rc < 0 ? rc : 0;
}

static int vme_attach(struct engine *g, uint32_t prog, const struct k_event *ev, struct err *e)
{
	(void)g, (void)prog, (void)ev;
	return err_set(e, TALLY_ENOTSUP, "events need the kernel: in the vm BEGIN, END, ERROR and tick probes fire");
}

static int vme_point(struct engine *g, uint32_t prog, const char *tracepoint, struct err *e)
{
	(void)g, (void)prog;
	return err_set(e, TALLY_ENOTSUP, "%s needs the kernel", tracepoint);
}

static int vme_places(struct engine *g, uint32_t prog, const struct k_places *p, struct err *e)
{
	(void)g, (void)prog, (void)p;
	return err_set(e, TALLY_ENOTSUP, "code of processes is probed by the kernel");
}

static int vme_timer(struct engine *g, uint64_t period_ns, struct err *e)
{
	struct vm_engine *v = vm_of(g);
	struct vm_timer *timer = VEC_NEW(v->timer, v->ntimers, v->captimer);

	if (!timer)
		return err_oom(e);
	*timer = (struct vm_timer){ .period_ns = period_ns ? period_ns : 1, .next_ns = UINT64_MAX };
	return (int)v->ntimers - 1;
}

static uint64_t vme_timer_fired(struct engine *g, int timer)
{
	struct vm_engine *v = vm_of(g);
	struct vm_timer *tm = &v->timer[timer];
	uint64_t n;

	if (v->now_ns < tm->next_ns)
		return 0;
	n = (v->now_ns - tm->next_ns) / tm->period_ns + 1;
	tm->next_ns += n * tm->period_ns;
	return n;
}

static int vme_start(struct engine *g, struct err *e)
{
	struct vm_engine *v = vm_of(g);

	(void)e;
	v->start_ns = v->now_ns;
	for (uint32_t i = 0; i < v->ntimers; i++)
		v->timer[i].next_ns = v->now_ns + v->timer[i].period_ns;
	return 0;
}

static int vme_stop(struct engine *g)
{
	for (uint32_t i = 0; i < vm_of(g)->ntimers; i++)
		vm_of(g)->timer[i].next_ns = UINT64_MAX;
	return 0;
}

static uint64_t next_timer(const struct vm_engine *v)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < v->ntimers; i++)
		if (v->timer[i].next_ns < next)
			next = v->timer[i].next_ns;
	return next;
}

static int vme_wait(struct engine *g, int timeout_ms)
{
	struct vm_engine *v = vm_of(g);
	uint64_t next = next_timer(v);

	(void)timeout_ms; /* waiting takes no time */
	if (next == UINT64_MAX)
		return -TALLY_EEND;
	if (v->now_ns < next)
		v->now_ns = next;
	return 0;
}

static int vme_drain(struct engine *g, record_sink *sink, void *arg)
{
	struct vm *vm = vm_of(g)->vm;
	uint32_t size;
	const void *rec;
	int rc;

	for (uint32_t ring = 0; ring <= VM_CPUS; ring++)
		while ((size = vm_ring_next(vm, ring, &rec)))
			if ((rc = sink(arg, ring, rec, size)) < 0)
				return rc;
	return 0;
}

/* The clock that timers see never goes back, though records of several devices have several clocks, and a tick that
 * fired took its time; a record's timestamp is its own. */
static int vme_advance(struct engine *g, uint64_t ns)
{
	struct vm_engine *v = vm_of(g);
	uint64_t next = next_timer(v), to = v->start_ns + ns;

	if (to < ns)
		to = UINT64_MAX - 1;
	v->record.mono_ns = v->record.vtime_ns = to;
	if (next <= to) {
		v->now_ns = next > v->now_ns ? next : v->now_ns;
		return 0;
	}
	v->now_ns = to > v->now_ns ? to : v->now_ns;
	return 1;
}

static uint64_t vme_next(struct engine *g)
{
	uint64_t next = next_timer(vm_of(g));

	return next == UINT64_MAX ? next : next - vm_of(g)->start_ns;
}

static int vme_record(struct engine *g, uint32_t prog, const void *ctx, uint32_t n, struct err *e)
{
	struct vm_engine *v = vm_of(g);

	v->record.record = ctx;
	v->record.record_bytes = n;
	return vm_run(v->vm, prog, &v->record, VM_MAX_INSNS, e);
}

static const struct engine_ops vm_ops = {
	.close = vme_close,
	.maps = vme_maps,
	.exited = vme_exited,
	.fire = vme_fire,
	.attach = vme_attach,
	.point = vme_point,
	.places = vme_places,
	.timer = vme_timer,
	.timer_fired = vme_timer_fired,
	.start = vme_start,
	.stop = vme_stop,
	.wait = vme_wait,
	.drain = vme_drain,
	.advance = vme_advance,
	.next = vme_next,
	.record = vme_record,
};

static int vme_set_ctl(struct vm_engine *v, const struct bpf_image *img, const struct img_ctl *ctl)
{
	struct maps m = vm_maps(v->vm);
	uint32_t zero = 0;

	while (v->ctl < img->nmaps && img->map[v->ctl].use != IMG_CTL)
		v->ctl++;
	return v->ctl < img->nmaps ? m.ops->update(m.maps, v->ctl, &zero, ctl) : 0;
}

static int vme_open(struct engine **ret, const struct bpf_image *img, const struct img_ctl *ctl,
		    const struct k_run_opts *o, struct err *e)
{
	struct vm_engine *v = mem_alloc(sizeof(*v));
	int rc;

	(void)o;
	if (!v)
		return err_oom(e);
	v->base.ops = &vm_ops;
	rc = vm_open(&v->vm, img, VM_CPUS, e);
	if (rc >= 0)
		rc = vme_set_ctl(v, img, ctl);
	if (rc < 0) {
		vme_close(&v->base);
		return err_set(e, -rc, "%s", tally_strerror(rc));
	}
	*ret = &v->base;
	return 0;
}

static const struct bpf_arch *vm_arch(void)
{
	return &bpf_arch_vm;
}

static uint32_t vm_ncpus(void)
{
	return VM_CPUS;
}

static uint32_t vm_frames(void)
{
	return D_FRAMES_USUAL;
}

const struct engine_kind engine_vm = { .arch = vm_arch, .ncpus = vm_ncpus, .frames = vm_frames, .open = vme_open };
