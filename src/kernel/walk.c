/*
 * walk.c: reading a map while programs run.
 *
 * A look-up by bpf(2) keeps the perf programs of its CPU from running, and the kernel counts that nowhere: a sixth of
 * the firings of a busy CPU went that way. A map iterator has no such guard: the kernel calls a small program for each
 * key, which writes the key and the values of all CPUs into a file, and we read the file.
 *
 * The program differs only by the sizes, so it is made here for each map that is walked. It is loaded at the first
 * walk, which needs the kernel's types and the right to load programs; a later walk needs neither, so a service may
 * give its rights up once each map was walked.
 *
 * Between two reads(2) of the file the kernel remembers its place in a bucket of a hash by a number. A key that comes
 * meanwhile moves the others by one, and the last of them is handed over once more. The caller has to look for that;
 * none is left out, as long as none is taken out meanwhile, and only the walker's own thread does that.
 *
 * Refuses (-TALLY_ENOTSUP, look-ups do it then): other maps than arrays and hashes, records that the kernel's buffer of
 * 32 KB may not hold, runs whose probes are not armed (nothing can be lost), kernels without types.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "bpf/insn.h"
#include "kernel/kernel_int.h"
#include "kernel/libbpf_int.h"

#define KERNEL_TYPES "/sys/kernel/btf/vmlinux"
#define LICENSE "Dual MIT/GPL"
#define RECORD_MOST (16u << 10) /* key and values; the kernel holds eight pages */
#define READ_BYTES (64u << 10)

/* struct bpf_iter__bpf_map_elem, and the file in its struct bpf_iter_meta */
enum { CONTEXT_META = 0, CONTEXT_KEY = 16, CONTEXT_VALUE = 24, META_FILE = 0 };

/* The vm has no such helper. */
#define WALK_WRITE I_RAW(INS_JMP | OP_CALL, 0, INS_CALL_HELPER, 0, BPF_FUNC_seq_write)

static bool walk_is_per_cpu(const struct run_map *m)
{
	return m->type == IMG_PERCPU_ARRAY || m->type == IMG_PERCPU_HASH;
}

static uint32_t walk_value_size(const struct k_run *k, const struct run_map *m)
{
	return walk_is_per_cpu(m) ? ((m->value_size + 7) & ~7u) * k->ncpus : m->value_size;
}

/* The kernel's number for what iterates over maps; 0: it has none, or says nothing about its types. */
static uint32_t walk_type(void)
{
	struct k_btf btf = { 0 };
	uint32_t id = 0;

	if (k_btf_open(&btf, KERNEL_TYPES, NULL) == 0)
		id = k_btf_find_kind(&btf, "bpf_iter_bpf_map_elem", BTF_KIND_FUNC);
	k_btf_close(&btf);
	return id;
}

static int walk_load(uint32_t type, uint32_t key_size, uint32_t value_size)
{
	const struct bpf_ins ins[] = {
		I_LOAD(DW, R7, R1, CONTEXT_KEY), /* NULL behind the last */
		I_LOAD(DW, R8, R1, CONTEXT_VALUE),
		I_JMP_IMM(JEQ, R7, 0, 11),
		I_JMP_IMM(JEQ, R8, 0, 10),
		I_LOAD(DW, R6, R1, CONTEXT_META),
		I_LOAD(DW, R6, R6, META_FILE),
		I_MOV_REG(R1, R6),
		I_MOV_REG(R2, R7),
		I_MOV_IMM(R3, (int32_t)key_size),
		WALK_WRITE,
		I_MOV_REG(R1, R6),
		I_MOV_REG(R2, R8),
		I_MOV_IMM(R3, (int32_t)value_size),
		WALK_WRITE,
		I_MOV_IMM(R0, 0),
		I_EXIT(),
	};
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = BPF_TRACE_ITER, .attach_btf_id = type);

	return bpf_prog_load(BPF_PROG_TYPE_TRACING, "walk", LICENSE, (const struct bpf_insn *)(const void *)ins,
			     COUNT(ins), &o);
}

/* Makes m->walk; false: it can't be. */
static bool walk_open(struct k_run *k, struct run_map *m)
{
	union bpf_iter_link_info of = { .map.map_fd = (uint32_t)m->fd };
	LIBBPF_OPTS(bpf_link_create_opts, o, .iter_info = &of, .iter_info_len = sizeof(of));
	int prog;

	if (m->walk != WALK_UNKNOWN)
		return m->walk >= 0;
	m->walk = WALK_REFUSED;
	if (!walk_is_per_cpu(m) && m->type != IMG_HASH && m->type != IMG_ARRAY)
		return false;
	if (m->key_size + walk_value_size(k, m) > RECORD_MOST)
		return false;
	if (!k->walk_type_known)
		k->walk_type = walk_type();
	k->walk_type_known = true;
	prog = k->walk_type ? walk_load(k->walk_type, m->key_size, walk_value_size(k, m)) : -1;
	if (prog < 0)
		return false;
	m->walk = bpf_link_create(prog, 0, BPF_TRACE_ITER, &o);
	if (m->walk < 0)
		m->walk = WALK_REFUSED;
	close(prog);
	return m->walk >= 0;
}

void walk_close(struct run_map *m)
{
	if (m->walk >= 0)
		close(m->walk);
	m->walk = WALK_UNKNOWN;
}

/* Hands the whole records of data over; how many bytes those are, or what `each` returned. */
static int64_t walk_records(const uint8_t *data, size_t n, const struct run_map *m, uint64_t *value, size_t value_size,
			    int (*each)(void *arg, const void *key, const void *value), void *arg)
{
	size_t at = 0;
	int rc;

	for (; n - at >= m->key_size + value_size; at += m->key_size + value_size) {
		memcpy(value, data + at + m->key_size, value_size); /* it is aligned there */
		rc = each(arg, data + at, value);
		if (rc < 0)
			return rc;
	}
	return (int64_t)at;
}

int walk_map(struct k_run *k, uint32_t map, int (*each)(void *arg, const void *key, const void *value), void *arg)
{
	struct run_map *m = &k->map[map];
	const size_t value_size = walk_value_size(k, m);
	uint8_t *data;
	uint64_t *value;
	size_t n = 0;
	ssize_t got = 1;
	int64_t done = 0;
	int fd;

	if (!k->enabled || !walk_open(k, m))
		return -TALLY_ENOTSUP;
	fd = bpf_iter_create(m->walk);
	if (fd < 0)
		return -TALLY_ENOTSUP;
	data = mem_alloc(READ_BYTES + RECORD_MOST);
	value = mem_alloc(value_size + 8);
	if (!data || !value)
		done = -TALLY_ENOMEM;
	while (done >= 0 && got) {
		do /* EAGAIN: it met many keys without one of ours, or a signal came */
			got = read(fd, data + n, READ_BYTES);
		while (got < 0 && (errno == EAGAIN || errno == EINTR));
		if (got < 0)
			done = -TALLY_EIO;
		else
			done = walk_records(data, n += (size_t)got, m, value, value_size, each, arg);
		if (done > 0)
			memmove(data, data + done, n -= (size_t)done);
	}
	if (done >= 0 && n) /* it ended within a record */
		done = -TALLY_EIO;
	mem_free(data);
	mem_free(value);
	close(fd);
	return done < 0 ? (int)done : 0;
}
