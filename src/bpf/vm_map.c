/*
 * vm_map.c: the maps of an image in memory.
 *
 * Arrays, hashes, stack traces and rings, with the semantics (and the error
 * numbers) of the kernel's.  Everything a run needs is allocated when the vm is
 * opened; memory that was never touched costs nothing, since large zeroed
 * allocations are mapped lazily.  Hashes chain: the order of a walk is that of
 * the slots, which is the order of insertion until something is deleted, so
 * two runs of the same events print the same.
 */
#include <string.h>

#include "bpf/vm_int.h"

#define VM_MAP_BYTES_MAX (1ULL << 32)
#define NODE_USED 0x80000000u

static uint32_t vm_round_up8(uint32_t n)
{
	return (n + 7) & ~7u;
}

static bool is_hash(const struct img_map *d)
{
	return d->type == IMG_HASH || d->type == IMG_PERCPU_HASH;
}

static bool is_array(const struct img_map *d)
{
	return d->type == IMG_ARRAY || d->type == IMG_PERCPU_ARRAY;
}

/* Multiply and fold, a word at a time: keys are a few 8-byte slots, of which often only low bits differ. */
static inline uint32_t hash_key(const uint8_t *key, size_t n)
{
	uint64_t h = n, word;
	for (; n >= 8; n -= 8, key += 8) {
		memcpy(&word, key, 8);
		h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 32;
	}
	word = 0;
	if (n)
		memcpy(&word, key, n);
	h = (h ^ word) * 0xd6e8feb86659fd93ULL;
	return (uint32_t)(h ^ h >> 32) | NODE_USED;
}

static struct vm_node *node_at(const struct vm_map *m, uint64_t slot)
{
	return (struct vm_node *)(void *)(m->nodes + slot * m->node_stride);
}

uint8_t *vm_map_value(const struct vm_map *m, uint64_t slot, uint32_t cpu)
{
	return m->values + (slot * m->ncopies + (m->ncopies > 1 ? cpu : 0)) * m->value_stride;
}

static void zero_value(struct vm_map *m, uint64_t slot)
{
	memset(vm_map_value(m, slot, 0), 0, (size_t)m->value_stride * m->ncopies);
}

/* ---- look-ups ------------------------------------------------------- */

static int64_t array_slot(const struct vm_map *m, const void *key)
{
	uint32_t i;
	memcpy(&i, key, sizeof(i));
	return i < m->nslots ? (int64_t)i : -BPF_ENOENT;
}

/* Most keys are one word, which needs no call. */
static inline bool same_key(const struct vm_node *n, const void *key, uint32_t size)
{
	uint64_t a, b;

	if (size != sizeof(a))
		return !memcmp(n->key, key, size);
	memcpy(&a, n->key, sizeof(a));
	memcpy(&b, key, sizeof(b));
	return a == b;
}

static inline int64_t hash_find(const struct vm_map *m, const void *key, uint32_t hash)
{
	for (uint32_t i = m->head[hash & m->mask]; i; i = node_at(m, i - 1)->next) {
		const struct vm_node *n = node_at(m, i - 1);
		if (n->hash == hash && same_key(n, key, m->def->key_size))
			return i - 1;
	}
	return -BPF_ENOENT;
}

int64_t vm_map_find(const struct vm_map *m, const void *key)
{
	if (is_hash(m->def))
		return hash_find(m, key, hash_key(key, m->def->key_size));
	int64_t slot = array_slot(m, key);
	if (slot >= 0 && m->def->type == IMG_STACK_TRACE && !node_at(m, (uint64_t)slot)->hash)
		return -BPF_ENOENT;
	return slot;
}

static int64_t hash_take_slot(struct vm_map *m)
{
	if (m->free) {
		uint32_t slot = m->free - 1;
		m->free = node_at(m, slot)->next;
		zero_value(m, slot);
		return slot;
	}
	return m->used < m->nslots ? (int64_t)m->used++ : -BPF_E2BIG;
}

int64_t vm_map_add(struct vm_map *m, const void *key)
{
	if (!is_hash(m->def)) {
		int64_t slot = array_slot(m, key);
		return slot < 0 ? -BPF_E2BIG : slot;
	}
	uint32_t hash = hash_key(key, m->def->key_size);
	int64_t slot = hash_find(m, key, hash);
	if (slot >= 0 || (slot = hash_take_slot(m)) < 0)
		return slot;
	struct vm_node *n = node_at(m, (uint64_t)slot);
	uint32_t *head = &m->head[hash & m->mask];
	n->hash = hash;
	n->next = *head;
	*head = (uint32_t)slot + 1;
	memcpy(n->key, key, m->def->key_size);
	return slot;
}

int64_t vm_map_remove(struct vm_map *m, const void *key)
{
	if (!is_hash(m->def))
		return -BPF_EINVAL;
	uint32_t hash = hash_key(key, m->def->key_size);
	int64_t slot = hash_find(m, key, hash);
	if (slot < 0)
		return slot;
	uint32_t *link = &m->head[hash & m->mask];
	while (*link != (uint32_t)slot + 1)
		link = &node_at(m, *link - 1)->next;
	struct vm_node *n = node_at(m, (uint64_t)slot);
	*link = n->next;
	n->hash = 0;
	n->next = m->free;
	m->free = (uint32_t)slot + 1;
	return slot;
}

/* As the kernel's bpf_get_stackid(): the hash of the frames is the id, and a bucket that holds
 * another stack is a collision, which the caller must count or keep elsewhere. */
int64_t vm_map_stack(struct vm_map *m, const uint64_t *frames, uint32_t n, uint64_t flags)
{
	uint32_t hash = hash_key((const uint8_t *)frames, n * sizeof(*frames));
	uint32_t slot = hash & m->mask;
	struct vm_node *node = node_at(m, slot);
	uint8_t *value = vm_map_value(m, slot, 0);
	size_t bytes = n * sizeof(*frames);
	if (node->hash == hash && node->next == n && ((flags & STACK_FAST_CMP) || !memcmp(value, frames, bytes)))
		return slot;
	if (node->hash && !(flags & STACK_REUSE))
		return -BPF_EEXIST;
	node->hash = hash;
	node->next = n;
	zero_value(m, slot);
	memcpy(value, frames, bytes);
	return slot;
}

/* ---- opening -------------------------------------------------------- */

static uint32_t power_of_two(uint32_t n)
{
	uint32_t p = 1;
	while (p < n)
		p <<= 1;
	return p;
}

static int check_sizes(const struct img_map *d, uint32_t ncopies, struct err *e)
{
	bool index_key = is_array(d) || d->type == IMG_STACK_TRACE;
	if (!d->max_entries || d->max_entries > VP_ELEMS / 2 || !d->value_size || d->value_size > VP_OFFS - 8 ||
	    !d->key_size || d->key_size > VP_OFFS / 2 || (index_key && d->key_size != 4) ||
	    (d->type == IMG_STACK_TRACE && d->value_size % 8) ||
	    (uint64_t)d->max_entries * ncopies * (vm_round_up8(d->value_size) + vm_round_up8(d->key_size)) >
		    VM_MAP_BYTES_MAX)
		return err_set(e, TALLY_EINVAL, "map %.16s: %u entries of %u and %u bytes are not possible", d->name,
			       d->max_entries, d->key_size, d->value_size);
	return 0;
}

static int hash_open(struct vm_map *m)
{
	uint32_t buckets = power_of_two(m->nslots);
	m->mask = buckets - 1;
	m->node_stride = sizeof(struct vm_node) + (is_hash(m->def) ? vm_round_up8(m->def->key_size) : 0);
	m->nodes = mem_alloc((size_t)m->nslots * m->node_stride);
	if (is_hash(m->def))
		m->head = mem_alloc(buckets * sizeof(*m->head));
	return m->nodes && (m->head || !is_hash(m->def)) ? 0 : -TALLY_ENOMEM;
}

static int ring_open(struct vm_ring *r, const struct img_map *d, struct err *e)
{
	if (r->data)
		return err_set(e, TALLY_EINVAL, "map %.16s: an image has one map of rings", d->name);
	r->size = d->max_entries;
	r->data = mem_alloc((size_t)r->size * 2);
	return r->data ? 0 : err_set(e, TALLY_ENOMEM, "map %.16s: out of memory", d->name);
}

/* All CPUs' rings, or the control ring behind them. */
static int rings_open(struct vm *vm, uint32_t map, struct err *e)
{
	const struct img_map *d = &vm->img->map[map];
	bool control = d->type == IMG_RINGBUF;
	int rc = 0;

	if (d->max_entries < 64 || d->max_entries > VM_MAP_BYTES_MAX / 4 || d->max_entries & (d->max_entries - 1) ||
	    d->key_size != (control ? 0 : 4))
		return err_set(e, TALLY_EINVAL, "map %.16s: a ring of %u bytes is not possible", d->name,
			       d->max_entries);
	if (!vm->rings && !(vm->rings = mem_alloc((vm->ncpus + 1) * sizeof(*vm->rings))))
		return err_set(e, TALLY_ENOMEM, "map %.16s: out of memory", d->name);
	vm->nrings = vm->ncpus + 1;
	for (uint32_t i = control ? vm->ncpus : 0; rc == 0 && i < vm->ncpus + control; i++)
		rc = ring_open(&vm->rings[i], d, e);
	return rc;
}

int vm_map_open(struct vm *vm, uint32_t i, struct err *e)
{
	const struct img_map *d = &vm->img->map[i];
	struct vm_map *m = &vm->maps[i];
	m->def = d;
	if (d->type == IMG_RINGS || d->type == IMG_RINGBUF)
		return rings_open(vm, i, e);
	if (d->type == IMG_PROGS)
		return 0;
	if (d->type > IMG_PROGS)
		return err_set(e, TALLY_EINVAL, "map %.16s: unknown type %u", d->name, d->type);
	m->ncopies = d->type == IMG_PERCPU_ARRAY || d->type == IMG_PERCPU_HASH ? vm->ncpus : 1;
	if (check_sizes(d, m->ncopies, e) < 0)
		return -TALLY_EINVAL;
	m->nslots = d->type == IMG_STACK_TRACE ? power_of_two(d->max_entries) : d->max_entries;
	m->value_stride = vm_round_up8(d->value_size);
	m->values = mem_alloc((size_t)m->nslots * m->ncopies * m->value_stride);
	if (!m->values || (!is_array(d) && hash_open(m) < 0))
		return err_set(e, TALLY_ENOMEM, "map %.16s: out of memory", d->name);
	bool memory = d->type != IMG_STACK_TRACE; /* programs may not look into stacks */
	vm->region[VR_MAPS + i] = (struct region){ .base = m->values,
						   .stride = (uint64_t)m->value_stride * m->ncopies,
						   .nelem = memory ? m->nslots : 0,
						   .rsize = d->value_size,
						   .wsize = d->value_size };
	return 0;
}

void vm_map_close(struct vm_map *m)
{
	mem_free(m->values);
	mem_free(m->head);
	mem_free(m->nodes);
}

void vm_maps_on_cpu(struct vm *vm, uint32_t cpu)
{
	for (uint32_t i = 0; i < vm->img->nmaps; i++)
		if (vm->maps[i].ncopies > 1)
			vm->region[VR_MAPS + i].base = vm_map_value(&vm->maps[i], 0, cpu);
	vm->base_cpu = cpu;
}

/* ---- rings ---------------------------------------------------------- */

static uint64_t ring_bytes(uint64_t n)
{
	return (n + VM_RING_HDR + 7) & ~7ULL;
}

uint32_t *vm_ring_reserve(struct vm_ring *r, uint64_t n)
{
	/* One byte less than the size, as in the kernel. */
	if (n > r->size || r->prod + ring_bytes(n) - r->cons > r->size - 1)
		return NULL;
	uint32_t *hdr = (uint32_t *)(void *)(r->data + (r->prod & (r->size - 1)));
	hdr[0] = (uint32_t)n | VM_RING_BUSY; /* the second word is nothing but alignment */
	r->prod += ring_bytes(n);
	return hdr;
}

uint32_t vm_ring_next(struct vm *vm, uint32_t ring, const void **rec)
{
	if (ring >= vm->nrings)
		return 0;
	struct vm_ring *r = &vm->rings[ring];
	r->cons += r->given;
	r->given = 0;
	while (r->cons != r->prod) {
		const uint32_t *hdr = (const uint32_t *)(void *)(r->data + (r->cons & (r->size - 1)));
		if (hdr[0] & VM_RING_BUSY)
			return 0;
		uint32_t n = hdr[0] & ~(uint32_t)VM_RING_DISCARD;
		r->given = ring_bytes(n);
		if (!(hdr[0] & VM_RING_DISCARD)) {
			*rec = hdr + 2;
			return n;
		}
		r->cons += r->given;
		r->given = 0;
	}
	return 0;
}

/* ---- the table of functions ----------------------------------------- */

static struct vm_map *ops_map(void *maps, uint32_t i)
{
	struct vm *vm = maps;
	return i < vm->img->nmaps && vm->img->map[i].type < IMG_RINGS ? &vm->maps[i] : NULL;
}

static void copy_out(const struct vm_map *m, int64_t slot, void *value)
{
	size_t n = m->ncopies > 1 ? (size_t)m->value_stride * m->ncopies : m->def->value_size;
	memcpy(value, vm_map_value(m, (uint64_t)slot, 0), n);
}

static int ops_lookup(void *maps, uint32_t map, const void *key, void *value)
{
	struct vm_map *m = ops_map(maps, map);
	int64_t slot = m ? vm_map_find(m, key) : -1;
	if (slot < 0)
		return m ? -TALLY_EEND : -TALLY_EINVAL;
	copy_out(m, slot, value);
	return 0;
}

static int ops_update(void *maps, uint32_t map, const void *key, const void *value)
{
	struct vm_map *m = ops_map(maps, map);
	if (!m || m->def->type == IMG_STACK_TRACE)
		return -TALLY_EINVAL;
	int64_t slot = vm_map_add(m, key);
	if (slot < 0)
		return is_hash(m->def) ? -TALLY_ENOMEM : -TALLY_EINVAL;
	size_t n = m->ncopies > 1 ? (size_t)m->value_stride * m->ncopies : m->def->value_size;
	memcpy(vm_map_value(m, (uint64_t)slot, 0), value, n);
	return 0;
}

/* Stack traces may be deleted from outside, as in the kernel. */
static int64_t remove_slot(struct vm_map *m, const void *key)
{
	if (m->def->type != IMG_STACK_TRACE)
		return vm_map_remove(m, key);
	int64_t slot = vm_map_find(m, key);
	if (slot >= 0)
		node_at(m, (uint64_t)slot)->hash = 0;
	return slot;
}

static int ops_remove(void *maps, uint32_t map, const void *key)
{
	struct vm_map *m = ops_map(maps, map);
	if (!m || is_array(m->def))
		return -TALLY_EINVAL;
	return remove_slot(m, key) < 0 ? -TALLY_EEND : 0;
}

static int ops_take(void *maps, uint32_t map, const void *key, void *value)
{
	struct vm_map *m = ops_map(maps, map);
	if (!m || is_array(m->def))
		return -TALLY_EINVAL;
	int64_t slot = remove_slot(m, key);
	if (slot < 0)
		return -TALLY_EEND;
	copy_out(m, slot, value); /* a freed slot keeps its value until it is taken again */
	return 0;
}

/* The first slot in use from `slot` on, or nslots. */
static uint32_t slot_in_use(const struct vm_map *m, uint32_t slot)
{
	uint32_t end = is_hash(m->def) ? m->used : m->nslots;
	if (!is_array(m->def))
		while (slot < end && !node_at(m, slot)->hash)
			slot++;
	return slot < end ? slot : m->nslots;
}

static int ops_next(void *maps, uint32_t map, const void *key, void *next_key)
{
	struct vm_map *m = ops_map(maps, map);
	if (!m)
		return -TALLY_EINVAL;
	/* A key that is gone starts again at the first, as in the kernel. */
	int64_t at = key ? vm_map_find(m, key) : -1;
	uint32_t slot = slot_in_use(m, at < 0 ? 0 : (uint32_t)at + 1);
	if (slot >= m->nslots)
		return -TALLY_EEND;
	if (is_hash(m->def))
		memcpy(next_key, node_at(m, slot)->key, m->def->key_size);
	else
		memcpy(next_key, &slot, sizeof(slot));
	return 0;
}

static void *ops_memory(void *maps, uint32_t map)
{
	struct vm_map *m = ops_map(maps, map);

	return m && m->def->type == IMG_ARRAY && m->nslots == 1 ? vm_map_value(m, 0, 0) : NULL;
}

struct maps vm_maps(struct vm *vm)
{
	static const struct map_ops ops = { ops_lookup, ops_update, ops_remove, ops_take, ops_next, ops_memory, NULL };
	return (struct maps){ .maps = vm, .ops = &ops, .ncpus = vm->ncpus };
}
