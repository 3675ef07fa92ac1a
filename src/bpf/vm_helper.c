/*
 * vm_helper.c: the kernel's helper functions, as far as generated code calls
 * them, over virtual pointers and a struct vm_cpu.
 *
 * A helper fails in two ways.  What the kernel's helper would answer with a
 * negative errno, this one answers with the same number.  What the verifier
 * would never have let through (a buffer out of bounds, a map argument that is
 * no map) sets vm->fault, which ends the run.
 * Helpers whose cost grows with an argument charge for it, so that the limit on
 * instructions limits the time too.
 */
#include <string.h>

#include "bpf/vm_int.h"

static uint64_t vm_helper_fault(struct vm *vm, const char *why)
{
	vm->fault = why;
	return 0;
}

static uint64_t vm_helper_failed(int64_t e) /* e < 0: as R0 shows it */
{
	return (uint64_t)e;
}

static uint8_t *vm_helper_buffer(struct vm *vm, uint64_t p, uint64_t n, bool write)
{
	static uint8_t nothing;
	uint8_t *at = n ? vm_at(vm, p, n, write) : &nothing;
	if (!at)
		vm->fault = write ? "a helper would write outside of memory" : "a helper would read outside of memory";
	vm->charge += n / 64;
	return at;
}

/* ---- maps ----------------------------------------------------------- */

static struct vm_map *map_arg(struct vm *vm, uint64_t p)
{
	if (vp_region(p) == VR_MAP && vp_elem(p) < vm->img->nmaps && !vp_off(p) &&
	    vm->maps[vp_elem(p)].def->type < IMG_RINGBUF)
		return &vm->maps[vp_elem(p)];
	vm->fault = "a helper's map argument is not a map";
	return NULL;
}

uint64_t vm_lookup(const struct vm *vm, uint32_t map, const uint8_t *key)
{
	int64_t slot = vm_map_find(&vm->maps[map], key);
	return slot < 0 ? 0 : vp(VR_MAPS + (uint64_t)map, (uint64_t)slot, 0);
}

static uint64_t ring_lookup(struct vm *vm, const uint8_t *key)
{
	uint32_t i;
	memcpy(&i, key, sizeof(i));
	return i < vm->ncpus ? vp(VR_RING, i, 0) : 0;
}

static uint64_t h_map_lookup_elem(struct vm *vm, const uint64_t *a)
{
	const struct vm_map *m = map_arg(vm, a[0]);
	const uint8_t *key = m ? vm_helper_buffer(vm, a[1], m->def->key_size, false) : NULL;
	if (!key)
		return 0;
	if (m->def->type == IMG_RINGS)
		return ring_lookup(vm, key);
	if (m->def->type == IMG_STACK_TRACE)
		return vm_helper_fault(vm, "a program may not look into a map of stacks");
	return vm_lookup(vm, (uint32_t)(m - vm->maps), key);
}

static uint64_t h_map_update_elem(struct vm *vm, const uint64_t *a)
{
	struct vm_map *m = map_arg(vm, a[0]);
	if (m && (m->def->type == IMG_RINGS || m->def->type == IMG_STACK_TRACE))
		return vm_helper_fault(vm, "a program may not update this map");
	const uint8_t *key = m ? vm_helper_buffer(vm, a[1], m->def->key_size, false) : NULL;
	const uint8_t *value = key ? vm_helper_buffer(vm, a[2], m->def->value_size, false) : NULL;
	if (!value)
		return 0;
	if (a[3] > MAP_EXIST)
		return vm_helper_failed(-BPF_EINVAL);
	int64_t slot = vm_map_find(m, key);
	if (slot >= 0 && a[3] == MAP_NOEXIST)
		return vm_helper_failed(-BPF_EEXIST);
	if (slot < 0 && a[3] == MAP_EXIST)
		return vm_helper_failed(m->head ? -BPF_ENOENT : -BPF_E2BIG);
	if (slot < 0 && (slot = vm_map_add(m, key)) < 0)
		return vm_helper_failed(slot);
	memmove(vm_map_value(m, (uint64_t)slot, vm->cpu->cpu), value, m->def->value_size);
	return 0;
}

static uint64_t h_map_delete_elem(struct vm *vm, const uint64_t *a)
{
	struct vm_map *m = map_arg(vm, a[0]);
	const uint8_t *key = m ? vm_helper_buffer(vm, a[1], m->def->key_size, false) : NULL;
	if (!key)
		return 0;
	int64_t slot = vm_map_remove(m, key);
	return slot < 0 ? vm_helper_failed(slot) : 0;
}

/* ---- reading memory ------------------------------------------------- */

/* Bytes behind a virtual pointer up to the end of its element: what the kernel would find behind
 * the pointer that this one stands for. */
static const uint8_t *own_memory(const struct vm *vm, uint64_t p, uint64_t *n)
{
	uint32_t i = vp_region(p);
	const uint8_t *at = vm_at(vm, p, 0, false);
	if (at)
		*n = vm->region[i].rsize - vp_off(p);
	return at;
}

/* Copies n bytes from an address as the kernel would see it: 0, or -1 when that faults. */
static int vm_helper_fetch(struct vm *vm, uint64_t addr, void *to, uint64_t n, bool user)
{
	uint64_t have;
	const uint8_t *own = own_memory(vm, addr, &have);
	if (own) {
		if (user || have < n)
			return -1;
		memmove(to, own, n);
		return 0;
	}
	if (!vm->cpu->read || addr + n < addr)
		return -1;
	return vm->cpu->read(vm->cpu->arg, addr, to, n, user) < 0 ? -1 : 0;
}

static uint64_t read_any(struct vm *vm, const uint64_t *a, bool user)
{
	uint64_t n = (uint32_t)a[1];
	uint8_t *to = vm_helper_buffer(vm, a[0], n, true);
	if (!to || !n || vm_helper_fetch(vm, a[2], to, n, user) == 0)
		return 0;
	memset(to, 0, n);
	return vm_helper_failed(-BPF_EFAULT);
}

static uint64_t h_probe_read_kernel(struct vm *vm, const uint64_t *a)
{
	return read_any(vm, a, false);
}

static uint64_t h_probe_read_user(struct vm *vm, const uint64_t *a)
{
	return read_any(vm, a, true);
}

static uint64_t h_probe_read(struct vm *vm, const uint64_t *a)
{
	return read_any(vm, a, !(a[2] >> 63) && vp_region(a[2]) >= VP_REGIONS);
}

/* Copies up to the NUL, at most n bytes: the bytes copied with the NUL, 0 when there was none, -1 for a fault.
 * Aligned pieces never cross a page, so that what lies behind the string need not be readable. */
static int64_t fetch_str(struct vm *vm, uint64_t addr, uint8_t *to, uint64_t n, bool user)
{
	uint8_t piece[64];
	for (uint64_t done = 0, part; done < n; done += part) {
		part = sizeof(piece) - (addr + done) % sizeof(piece);
		if (part > n - done)
			part = n - done;
		if (vm_helper_fetch(vm, addr + done, piece, part, user) < 0 &&
		    vm_helper_fetch(vm, addr + done, piece, part = 1, user) < 0)
			return -1;
		const uint8_t *end = memchr(piece, 0, part);
		if (end)
			part = (uint64_t)(end - piece) + 1;
		memcpy(to + done, piece, part);
		if (end)
			return (int64_t)(done + part);
	}
	return 0;
}

/* Bytes behind the NUL are left as they were, as the kernel does. */
static uint64_t read_str(struct vm *vm, const uint64_t *a, bool user)
{
	uint64_t n = (uint32_t)a[1];
	uint8_t *to = vm_helper_buffer(vm, a[0], n, true);
	if (!to || !n)
		return 0;
	int64_t got = fetch_str(vm, a[2], to, n, user);
	if (got < 0) {
		memset(to, 0, n);
		return vm_helper_failed(-BPF_EFAULT);
	}
	if (got)
		return (uint64_t)got;
	to[n - 1] = 0;
	return n;
}

static uint64_t h_probe_read_kernel_str(struct vm *vm, const uint64_t *a)
{
	return read_str(vm, a, false);
}

static uint64_t h_probe_read_user_str(struct vm *vm, const uint64_t *a)
{
	return read_str(vm, a, true);
}

/* There is no process whose memory could be written. */
static uint64_t h_probe_write_user(struct vm *vm, const uint64_t *a)
{
	(void)vm;
	(void)a;
	return vm_helper_failed(-BPF_EFAULT);
}

/* ---- who and when --------------------------------------------------- */

static uint64_t h_ktime_get_ns(struct vm *vm, const uint64_t *a)
{
	(void)a;
	return vm->cpu->mono_ns;
}

static uint64_t h_get_smp_processor_id(struct vm *vm, const uint64_t *a)
{
	(void)a;
	return vm->cpu->cpu;
}

static uint64_t h_get_current_pid_tgid(struct vm *vm, const uint64_t *a)
{
	(void)a;
	return (uint64_t)vm->cpu->pid << 32 | vm->cpu->tid;
}

static uint64_t h_get_current_uid_gid(struct vm *vm, const uint64_t *a)
{
	(void)a;
	return (uint64_t)vm->cpu->gid << 32 | vm->cpu->uid;
}

static uint64_t h_get_current_comm(struct vm *vm, const uint64_t *a)
{
	uint64_t n = (uint32_t)a[1];
	uint8_t *to = vm_helper_buffer(vm, a[0], n, true);
	if (!to || !n)
		return to ? vm_helper_failed(-BPF_EINVAL) : 0;
	memset(to, 0, n);
	memcpy(to, vm->cpu->comm, strnlen(vm->cpu->comm, n < 16 ? n - 1 : 15));
	return 0;
}

static uint64_t h_get_current_task(struct vm *vm, const uint64_t *a)
{
	(void)vm, (void)a;
	return vp(VR_TASK, 0, 0);
}

#define h_get_current_task_btf h_get_current_task /* to be read from without a helper */

static uint64_t h_get_ns_current_pid_tgid(struct vm *vm, const uint64_t *a)
{
	uint64_t n = (uint32_t)a[3];
	uint8_t *to = vm_helper_buffer(vm, a[2], n, true);
	if (!to)
		return 0;
	memset(to, 0, n);
	struct ins_pidns ids = { .pid = vm->cpu->tid, .tgid = vm->cpu->pid };
	if (n != sizeof(ids))
		return vm_helper_failed(-BPF_EINVAL);
	memcpy(to, &ids, sizeof(ids));
	return 0;
}

/* The vm has no counters: three zeros (counter, enabled, running). */
static uint64_t h_perf_prog_read_value(struct vm *vm, const uint64_t *a)
{
	uint64_t n = (uint32_t)a[2];
	uint8_t *to = vm_helper_buffer(vm, a[1], n, true);
	if (!to)
		return 0;
	memset(to, 0, n);
	return n == 24 ? 0 : vm_helper_failed(-BPF_EINVAL);
}

/* ---- stacks --------------------------------------------------------- */

/* The frames that flags ask for, at most `most`; 0 when there are none. */
static uint32_t vm_helper_frames(const struct vm_cpu *c, uint64_t flags, uint64_t most, const uint64_t **ret)
{
	const uint64_t *all = flags & STACK_USER ? c->ustack : c->kstack;
	uint32_t n = flags & STACK_USER ? c->nustack : c->nkstack;
	uint32_t skip = flags & STACK_SKIP;
	if (!all || n <= skip)
		return 0;
	*ret = all + skip;
	n -= skip;
	return n < most ? n : (uint32_t)most;
}

static uint64_t h_get_stackid(struct vm *vm, const uint64_t *a)
{
	struct vm_map *m = map_arg(vm, a[1]);
	if (m && m->def->type != IMG_STACK_TRACE)
		return vm_helper_fault(vm, "get_stackid needs a map of stacks");
	if (!m || a[2] & ~(uint64_t)(STACK_SKIP | STACK_USER | STACK_FAST_CMP | STACK_REUSE))
		return m ? vm_helper_failed(-BPF_EINVAL) : 0;
	const uint64_t *f;
	uint32_t n = vm_helper_frames(vm->cpu, a[2], m->def->value_size / sizeof(*f), &f);
	int64_t id = n ? vm_map_stack(m, f, n, a[2]) : -BPF_EFAULT;
	return id < 0 ? vm_helper_failed(id) : (uint64_t)id;
}

static uint64_t h_get_stack(struct vm *vm, const uint64_t *a)
{
	uint64_t size = (uint32_t)a[2];
	uint8_t *to = vm_helper_buffer(vm, a[1], size, true);
	if (!to)
		return 0;
	const uint64_t *f;
	memset(to, 0, size);
	if (size % sizeof(*f) || a[3] & ~(uint64_t)(STACK_SKIP | STACK_USER))
		return vm_helper_failed(-BPF_EINVAL);
	uint32_t n = vm_helper_frames(vm->cpu, a[3], size / sizeof(*f), &f);
	if (!n)
		return vm_helper_failed(-BPF_EFAULT);
	memcpy(to, f, n * sizeof(*f));
	return n * sizeof(*f);
}

/* ---- rings ---------------------------------------------------------- */

static struct vm_ring *ring_arg(struct vm *vm, uint64_t p)
{
	if (vp_region(p) == VR_RING && vp_elem(p) < vm->nrings && !vp_off(p))
		return &vm->rings[vp_elem(p)];
	if (vp_region(p) == VR_MAP && vp_elem(p) < vm->img->nmaps && !vp_off(p) &&
	    vm->maps[vp_elem(p)].def->type == IMG_RINGBUF)
		return &vm->rings[vm->ncpus];
	vm->fault = "a helper's ring argument is not a ring";
	return NULL;
}

static uint64_t h_ringbuf_output(struct vm *vm, const uint64_t *a)
{
	struct vm_ring *r = ring_arg(vm, a[0]);
	const uint8_t *data = r ? vm_helper_buffer(vm, a[1], a[2], false) : NULL;
	if (!data)
		return 0;
	if (a[3] & ~(uint64_t)(RING_NO_WAKEUP | RING_FORCE_WAKEUP))
		return vm_helper_failed(-BPF_EINVAL);
	uint32_t *hdr = vm_ring_reserve(r, a[2]);
	if (!hdr)
		return vm_helper_failed(-BPF_EAGAIN);
	memcpy(hdr + 2, data, a[2]);
	*hdr &= ~(uint32_t)VM_RING_BUSY;
	return 0;
}

static uint64_t h_ringbuf_reserve(struct vm *vm, const uint64_t *a)
{
	struct vm_ring *r = ring_arg(vm, a[0]);
	if (!r || a[1] >= VP_OFFS || a[2])
		return 0;
	uint32_t i = 0;
	while (i < VM_RESERVATIONS && vm->reservation[i].ring)
		i++;
	if (i == VM_RESERVATIONS)
		return vm_helper_fault(vm, "too many records reserved and not submitted");
	uint32_t *hdr = vm_ring_reserve(r, a[1]);
	if (!hdr)
		return 0;
	memset(hdr + 2, 0, a[1]);
	vm->charge += a[1] / 64;
	vm->reservation[i] = (struct vm_reservation){ r, hdr };
	vm->nreserved++;
	vm->region[VR_RESERVED + i] = (struct region){
		.base = (uint8_t *)(hdr + 2), .nelem = 1, .rsize = (uint32_t)a[1], .wsize = (uint32_t)a[1]
	};
	return vp(VR_RESERVED + i, 0, 0);
}

static void vm_ring_commit(struct vm *vm, uint32_t i, uint32_t flags)
{
	uint32_t *hdr = vm->reservation[i].hdr;
	*hdr = (*hdr & ~(uint32_t)VM_RING_BUSY) | flags;
	vm->reservation[i] = (struct vm_reservation){ 0 };
	vm->nreserved--;
	vm->region[VR_RESERVED + i] = (struct region){ 0 };
}

static uint64_t commit_arg(struct vm *vm, const uint64_t *a, uint32_t flags)
{
	uint32_t i = vp_region(a[0]) - VR_RESERVED;
	if (i >= VM_RESERVATIONS || !vm->reservation[i].ring || a[0] != vp(VR_RESERVED + i, 0, 0))
		return vm_helper_fault(vm, "not a reserved record");
	vm_ring_commit(vm, i, flags);
	return 0;
}

static uint64_t h_ringbuf_submit(struct vm *vm, const uint64_t *a)
{
	return commit_arg(vm, a, 0);
}

static uint64_t h_ringbuf_discard(struct vm *vm, const uint64_t *a)
{
	return commit_arg(vm, a, VM_RING_DISCARD);
}

void vm_reservations_drop(struct vm *vm)
{
	for (uint32_t i = 0; vm->nreserved && i < VM_RESERVATIONS; i++)
		if (vm->reservation[i].ring)
			vm_ring_commit(vm, i, VM_RING_DISCARD);
}

static uint64_t h_ringbuf_query(struct vm *vm, const uint64_t *a)
{
	const struct vm_ring *r = ring_arg(vm, a[0]);
	if (!r)
		return 0;
	switch (a[1]) {
	case RING_AVAIL_DATA:
		return r->prod - r->cons;
	case RING_SIZE:
		return r->size;
	case RING_CONS_POS:
		return r->cons;
	case RING_PROD_POS:
		return r->prod;
	default:
		return 0;
	}
}

/* ---- the rest ------------------------------------------------------- */

/* strncmp(s1, size, s2): s2 ends with a NUL or its memory does. */
static uint64_t h_strncmp(struct vm *vm, const uint64_t *a)
{
	uint64_t n = (uint32_t)a[1], have = 0;
	const uint8_t *s1 = vm_helper_buffer(vm, a[0], n, false);
	const uint8_t *s2 = s1 ? own_memory(vm, a[2], &have) : NULL;
	if (!s2 || !memchr(s2, 0, have))
		return vm_helper_fault(vm, "strncmp's strings are not in memory");
	int c = strncmp((const char *)s1, (const char *)s2, n);
	return c ? vm_helper_failed(c < 0 ? -1 : 1) : 0;
}

/* The same numbers in each run, so that an answer can be compared (splitmix64). */
static uint64_t h_get_prandom_u32(struct vm *vm, const uint64_t *a)
{
	uint64_t z = vm->chance += UINT64_C(0x9e3779b97f4a7c15);

	(void)a;
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)(z ^ (z >> 31));
}

vm_helper_fn *vm_helper(int32_t number)
{
#define h_loop NULL /* calls back, and goes on elsewhere: the interpreter itself runs them */
#define h_tail_call NULL
#define h_perf_event_output NULL /* here are no events, and no registers */
#define h_perf_event_read_value NULL
#define h_task_storage_get NULL
#define h_task_pt_regs NULL
#define h_get_attach_cookie NULL
#define h_get_task_stack NULL
#define h_get_func_arg NULL
#define h_get_func_ret NULL
#define h_send_signal NULL /* nor processes */
	static vm_helper_fn *const helpers[] = {
#define X(name, number) [number] = h_##name,
		INS_HELPERS(X)
#undef X
	};
#undef h_send_signal
#undef h_loop
#undef h_tail_call
#undef h_perf_event_output
#undef h_perf_event_read_value
#undef h_task_storage_get
#undef h_task_pt_regs
#undef h_get_attach_cookie
#undef h_get_task_stack
#undef h_get_func_arg
#undef h_get_func_ret
	return number >= 0 && (size_t)number < COUNT(helpers) ? helpers[number] : NULL;
}
