/*
 * maps.c: the maps of an image as kernel maps, and the table of functions over them.
 *
 * Creating a map costs by its size, and that is most of what starting a run
 * costs: hashes are never preallocated (100,000 per-CPU entries take 1.5 ms
 * without and 60 ms with it), and what only few runs need is not made.
 *
 * Every bpf(2) call on a map keeps the perf programs of the calling CPU from
 * running meanwhile, and the kernel counts that nowhere.  So an array of one
 * (control words, globals) is mapped and read as memory, and a map is walked
 * without look-ups while events fire (walk.c). Where that can't be, whoever looks keys up
 * should hold k_quiet(), which confines the loss to one CPU.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/kernel_int.h"
#include "kernel/libbpf_int.h"

#define NOTSUPP 524 /* the kernel's ENOTSUPP, which no header for programs has */

static const enum bpf_map_type kernel_type[] = {
	[IMG_ARRAY] = BPF_MAP_TYPE_ARRAY,
	[IMG_PERCPU_ARRAY] = BPF_MAP_TYPE_PERCPU_ARRAY,
	[IMG_HASH] = BPF_MAP_TYPE_HASH,
	[IMG_PERCPU_HASH] = BPF_MAP_TYPE_PERCPU_HASH,
	[IMG_STACK_TRACE] = BPF_MAP_TYPE_STACK_TRACE,
	[IMG_RINGS] = BPF_MAP_TYPE_ARRAY_OF_MAPS,
	[IMG_RINGBUF] = BPF_MAP_TYPE_RINGBUF,
	[IMG_PROGS] = BPF_MAP_TYPE_PROG_ARRAY,
	[IMG_EVENTS] = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
	[IMG_TASK_STORAGE] = BPF_MAP_TYPE_TASK_STORAGE,
};

static uint32_t map_flags(const struct img_map *m)
{
	switch (m->type) {
	case IMG_ARRAY:
		return BPF_F_MMAPABLE;
	case IMG_HASH:
	case IMG_PERCPU_HASH:
		return m->use == IMG_SPARE || m->use == IMG_WAITS ? 0 : BPF_F_NO_PREALLOC;
	default:
		return 0;
	}
}

static int map_refused(const struct img_map *m, int no, struct err *e)
{
	switch (no) {
	case EPERM:
		return rights_bpf("creating a BPF map", e);
	case ENOMEM:
	case E2BIG:
		return err_set(e, TALLY_ENOMEM, "map %.16s: no memory for %u entries of %u bytes", m->name,
			       m->max_entries, m->key_size + m->value_size);
	case EMFILE:
	case ENFILE:
		return run_file_refused("creating a BPF map", no, e);
	case ENOSYS:
		return err_set(e, TALLY_ENOTSUP, "this kernel has no BPF");
	default:
		return err_set(e, TALLY_EINVAL, "map %.16s: the kernel refuses %u entries of %u and %u bytes: %s",
			       m->name, m->max_entries, m->key_size, m->value_size, strerror(no));
	}
}

/* An array of one is mapped, and what user space fills with unwind tables while programs read it. */
static bool map_is_memory(const struct img_map *m)
{
	return m->type == IMG_ARRAY &&
	       (m->max_entries == 1 || m->use == IMG_UNWIND_SPACES || m->use == IMG_UNWIND_ROWS);
}

/* Maps the values of an array, which rounds up to pages. */
static int map_memory(struct run_map *r, const struct img_map *m, struct err *e)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	r->mem_bytes = ((size_t)m->max_entries * ((m->value_size + 7) & ~7u) + page - 1) / page * page;
	r->mem = mmap(NULL, r->mem_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (r->mem != MAP_FAILED)
		return 0;
	r->mem = NULL;
	return err_set(e, TALLY_ENOMEM, "cannot mmap map %.16s: %s", m->name, strerror(errno));
}

/* The kernel wants to know the types of what it keeps with a thread: a number, and so many bytes. */
static int map_open_storage(struct run_map *r, const struct img_map *m, struct err *e)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_NO_PREALLOC);
	struct btf *btf = btf__new_empty();
	int number = btf ? btf__add_int(btf, "int", 4, BTF_INT_SIGNED) : -1,
	    byte = btf ? btf__add_int(btf, "char", 1, BTF_INT_SIGNED) : -1,
	    value = number < 0 || byte < 0 ? -1 : btf__add_array(btf, number, byte, m->value_size);

	if (value >= 0 && btf__load_into_kernel(btf) == 0) {
		o.btf_fd = (uint32_t)btf__fd(btf);
		o.btf_key_type_id = (uint32_t)number;
		o.btf_value_type_id = (uint32_t)value;
		r->fd = bpf_map_create(BPF_MAP_TYPE_TASK_STORAGE, m->name, m->key_size, m->value_size, 0, &o);
	}
	if (r->fd < 0)
		map_refused(m, value < 0 ? ENOMEM : errno, e);
	btf__free(btf);
	return r->fd < 0 ? -e->code : 0;
}

static int map_open(struct k_run *k, struct run_map *r, const struct img_map *m, struct err *e)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = map_flags(m));
	char name[sizeof(m->name) + 1] = "";

	if (m->type == IMG_RINGS) {
		int rc = rings_open(k, m, e);

		r->fd = k->rings.outer;
		return rc;
	}
	if (m->type == IMG_RINGBUF)
		return r->fd = rings_control(k, m, e);
	if (m->type == IMG_TASK_STORAGE)
		return map_open_storage(r, m, e);
	memcpy(name, m->name, sizeof(m->name) - 1);
	r->fd = bpf_map_create(kernel_type[m->type], name, m->key_size, m->value_size,
			       m->type == IMG_EVENTS ? k->ncpus : m->max_entries, &o);
	if (r->fd < 0)
		return map_refused(m, errno, e);
	return map_is_memory(m) ? map_memory(r, m, e) : 0;
}

/* What a map starts with: the globals their values, the control words are found. */
static int map_fill(struct k_run *k, const struct run_map *r, const struct bpf_image *img, const struct img_map *m,
		    struct err *e)
{
	bool globals = r->use == IMG_GLOBALS && img->globals_init;
	size_t init = m->value_size;
	size_t need = r->use == IMG_CTL ? sizeof(struct img_ctl) : globals ? img->globals_size : 0;

	if (need && (!r->mem || r->value_size < need))
		return err_set(e, TALLY_EINVAL, "the image's map of %s is too small",
			       globals ? "globals" : "control words");
	if (r->use == IMG_CTL)
		k->ctl = r->mem;
	if (globals)
		memcpy(r->mem, img->globals_init, img->globals_size);
	if (r->use == IMG_DISPATCH && r->mem && r->value_size >= sizeof(struct img_dispatch))
		dispatch_find(r->mem);
	for (uint32_t i = 0; i < img->nrows; i++)
		if (&img->map[img->rows[i].map] == m)
			init = (size_t)img->rows[i].n * img->rows[i].bytes;
	if (m->init && r->mem)
		memcpy(r->mem, m->init, init);
	return 0;
}

/* Those that a watch of mappings needs, or all others. */
static int maps_open_some(struct k_run *k, const struct bpf_image *img, bool watched, struct err *e)
{
	for (uint32_t i = 0; i < img->nmaps; i++) {
		const struct img_map *m = &img->map[i];
		struct run_map *r = &k->map[i];
		int rc;

		if (watched != (m->use == IMG_GENERATIONS || m->use == IMG_SPACES))
			continue;
		if (m->type >= COUNT(kernel_type))
			return err_set(e, TALLY_EINVAL, "map %.16s: no such type", m->name);
		if ((rc = map_open(k, r, m, e)) < 0 || (rc = map_fill(k, r, img, m, e)) < 0)
			return rc;
	}
	return 0;
}

int maps_open(struct k_run *k, const struct bpf_image *img, struct err *e)
{
	int rc;

	k->map = mem_alloc(img->nmaps * sizeof(*k->map));
	if (!k->map)
		return err_oom(e);
	for (; k->nmaps < img->nmaps; k->nmaps++) {
		const struct img_map *m = &img->map[k->nmaps];
		k->map[k->nmaps] = (struct run_map){ .fd = -1,
						     .walk = WALK_UNKNOWN,
						     .type = m->type,
						     .use = m->use,
						     .id = m->id,
						     .key_size = m->key_size,
						     .value_size = m->value_size };
	}
	if ((rc = maps_open_some(k, img, true, e)) < 0 || (rc = generations_begin(k, e)) < 0)
		return rc;
	return maps_open_some(k, img, false, e);
}

void maps_close(struct k_run *k)
{
	for (uint32_t i = 0; i < k->nmaps; i++) {
		walk_close(&k->map[i]);
		if (k->map[i].mem)
			munmap(k->map[i].mem, k->map[i].mem_bytes);
		if (k->map[i].fd >= 0)
			close(k->map[i].fd);
	}
	mem_free(k->map);
	k->map = NULL;
	k->nmaps = 0;
	k->ctl = NULL;
}

/* ---- the table of functions ------------------------------------------------ */

static int map_error(int no)
{
	switch (no) {
	case 0:
		return 0;
	case ENOENT:
		return -TALLY_EEND;
	case E2BIG:
	case ENOMEM:
		return -TALLY_ENOMEM;
	case EPERM:
		return -TALLY_EPERM;
	case EBUSY:
		return -TALLY_EBUSY;
	case EINVAL:
	case EOPNOTSUPP:
	case NOTSUPP:
		return -TALLY_EINVAL;
	default:
		return -TALLY_EIO;
	}
}

/* Result of a libbpf call that is 0 or negative with errno set. */
static int map_result(int rc)
{
	return rc < 0 ? map_error(errno) : 0;
}

static const struct run_map *ops_map(void *maps, uint32_t map)
{
	const struct k_run *k = maps;

	return map < k->nmaps && k->map[map].type < IMG_RINGS ? &k->map[map] : NULL;
}

/* The one value of a mapped array, NULL past it. */
static void *ops_memory(const struct run_map *m, const void *key)
{
	uint32_t i;

	memcpy(&i, key, sizeof(i));
	return i == 0 ? m->mem : NULL;
}

static int ops_lookup(void *maps, uint32_t map, const void *key, void *value)
{
	const struct run_map *m = ops_map(maps, map);

	if (!m)
		return -TALLY_EINVAL;
	if (!m->mem)
		return map_result(bpf_map_lookup_elem(m->fd, key, value));
	if (!ops_memory(m, key))
		return -TALLY_EEND;
	memcpy(value, m->mem, m->value_size);
	return 0;
}

static int ops_update(void *maps, uint32_t map, const void *key, const void *value)
{
	const struct run_map *m = ops_map(maps, map);

	if (!m || m->type == IMG_STACK_TRACE)
		return -TALLY_EINVAL;
	if (!m->mem)
		return map_result(bpf_map_update_elem(m->fd, key, value, BPF_ANY));
	if (!ops_memory(m, key))
		return -TALLY_EINVAL;
	memcpy(m->mem, value, m->value_size);
	return 0;
}

static int ops_remove(void *maps, uint32_t map, const void *key)
{
	const struct run_map *m = ops_map(maps, map);

	return m ? map_result(bpf_map_delete_elem(m->fd, key)) : -TALLY_EINVAL;
}

/* In one step for hashes; stacks lose nothing by two, since nobody updates one in place. */
static int ops_take(void *maps, uint32_t map, const void *key, void *value)
{
	const struct run_map *m = ops_map(maps, map);
	int rc;

	if (!m)
		return -TALLY_EINVAL;
	if (m->type != IMG_STACK_TRACE)
		return map_result(bpf_map_lookup_and_delete_elem(m->fd, key, value));
	rc = ops_lookup(maps, map, key, value);
	return rc < 0 ? rc : ops_remove(maps, map, key);
}

static int ops_next(void *maps, uint32_t map, const void *key, void *next_key)
{
	const struct run_map *m = ops_map(maps, map);

	return m ? map_result(bpf_map_get_next_key(m->fd, key, next_key)) : -TALLY_EINVAL;
}

static int ops_walk(void *maps, uint32_t map, int (*each)(void *arg, const void *key, const void *value), void *arg)
{
	return ops_map(maps, map) ? walk_map(maps, map, each, arg) : -TALLY_EINVAL;
}

static void *ops_value(void *maps, uint32_t map)
{
	const struct run_map *m = ops_map(maps, map);

	return m ? m->mem : NULL;
}

static const struct map_ops maps_ops = {
	.lookup = ops_lookup,
	.update = ops_update,
	.remove = ops_remove,
	.take = ops_take,
	.next = ops_next,
	.memory = ops_value,
	.walk = ops_walk,
};

struct maps k_maps(struct k_run *k)
{
	return (struct maps){ .maps = k, .ops = &maps_ops, .ncpus = k->ncpus };
}
