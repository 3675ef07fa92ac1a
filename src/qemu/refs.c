/*
 * refs.c: the emulator of QEMU's user-mode emulators: a program's memory references go through a machine's caches.
 *
 * Each instruction executed is a fetch, each load and store what it is; an atomic instruction is a load and a store, as
 * in valgrind's traces.  Threads are strands: a vCPU's number, modulo the strands of the machine.  All is user level,
 * context 1. At the end of the program the counters of the model are written to the log, or to standard error.  With
 * refs=PATH there is no model, and the references are written as text, as `valgrind --tool=lackey --trace-mem=yes`
 * writes them.
 *
 * QEMU calls for each reference, from all threads at once, and the model takes one at a time: so a thread
 * gathers a batch before it takes the lock.  Between threads the order is that of batches.  What is lost is told on
 * standard error at the end.
 *
 * What an instruction's callback needs is a struct, kept until QEMU throws its translations away.
 */
#include <errno.h>
#include <stdio.h>

#include "qemu/qemu_int.h"

#define BATCH 64u
#define VCPUS_MOST 1024u /* threads at once; references of more are lost */
#define VA ((UINT64_C(1) << 48) - 1)
#define LINE 32u /* of text, and more than any has */

struct batch {
	uint32_t n;
	struct niagara_ref ref[BATCH];
};
struct fetched {
	struct refs *q;
	uint64_t va;
	uint8_t bytes;
};
struct block {
	struct block *next;
	struct fetched insn[];
}; /* of one translation */
struct refs {
	/* set by open_refs(), then read-only */
	const struct sun4v_kind *kind;
	struct model *model;  /* NULL: text */
	struct bytes_out out; /* text, or the counters */
	bool has_out;
	/* under the lock */
	pthread_mutex_t lock;
	struct block *block;
	int write_errno; /* of the first write to `out` that failed, or of the report; 0: none did */
	/* of all threads, atomic */
	uint64_t lost;   /* references */
	uint64_t unseen; /* translated instructions that are not watched: there was no memory */
	/* of one vCPU each */
	struct batch *batch[VCPUS_MOST];
};

/* ---- references ---------------------------------------------------------------------------------- */

static char *refs_put_hex(char *p, uint64_t v)
{
	int digits = 8;

	while (digits < 16 && v >> digits * 4)
		digits++;
	while (digits--)
		*p++ = "0123456789abcdef"[v >> digits * 4 & 15];
	return p;
}

static void refs_write(struct refs *q, const char *text, size_t n)
{
	if (q->out.put(q->out.arg, text, n) < 0 && !q->write_errno)
		q->write_errno = errno;
}

static void write_text(struct refs *q, const struct batch *b)
{
	static const char *const kinds[] = { [NIAGARA_FETCH] = "I  ", [NIAGARA_LOAD] = " L ", [NIAGARA_STORE] = " S " };
	char text[BATCH * LINE], *p = text;

	for (uint32_t i = 0; i < b->n; i++) {
		const struct niagara_ref *r = &b->ref[i];

		memcpy(p, kinds[r->kind], 3);
		p = refs_put_hex(p + 3, r->va);
		p += snprintf(p, 6, ",%u\n", r->bytes);
	}
	refs_write(q, text, (size_t)(p - text));
}

static void refs_flush_batch(struct refs *q, struct batch *b)
{
	pthread_mutex_lock(&q->lock);
	if (q->model)
		niagara_refs(q->model->niagara, b->ref, b->n);
	else
		write_text(q, b);
	pthread_mutex_unlock(&q->lock);
	b->n = 0;
}

static void refs_add(struct refs *q, unsigned vcpu, uint8_t kind, uint64_t va, uint8_t bytes)
{
	struct batch *b = vcpu < VCPUS_MOST ? q->batch[vcpu] : NULL;

	if (!b) {
		if (vcpu >= VCPUS_MOST || !(b = mem_alloc(sizeof(*b)))) {
			__atomic_fetch_add(&q->lost, 1, __ATOMIC_RELAXED);
			return;
		}
		q->batch[vcpu] = b;
	}
	b->ref[b->n++] =
		(struct niagara_ref){ .va = va & VA,
				      .strand = (uint16_t)(vcpu % (q->kind->nodes * q->kind->strands_per_node)),
				      .context = 1,
				      .kind = kind,
				      .bytes = bytes,
				      .instructions = kind == NIAGARA_FETCH };
	if (b->n == BATCH)
		refs_flush_batch(q, b);
}

static void at_insn(unsigned vcpu, void *arg)
{
	const struct fetched *f = arg;

	refs_add(f->q, vcpu, NIAGARA_FETCH, f->va, f->bytes);
}

static void at_mem(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t va, void *arg)
{
	refs_add(arg, vcpu, qemu_plugin_mem_is_store(info) ? NIAGARA_STORE : NIAGARA_LOAD, va,
		 (uint8_t)(1u << qemu_plugin_mem_size_shift(info)));
}

/* ---- translation ----------------------------------------------------------------------------------- */

static struct block *new_block(struct refs *q, size_t n)
{
	struct block *b = mem_alloc(sizeof(*b) + n * sizeof(b->insn[0]));

	if (!b)
		return NULL;
	pthread_mutex_lock(&q->lock);
	b->next = q->block;
	q->block = b;
	pthread_mutex_unlock(&q->lock);
	return b;
}

static void refs_translated(struct qemu_plugin_tb *tb, void *arg)
{
	struct refs *q = arg;
	const size_t n = qemu_plugin_tb_n_insns(tb);
	struct block *b = new_block(q, n);

	if (!b)
		__atomic_fetch_add(&q->unseen, n, __ATOMIC_RELAXED);
	for (size_t i = 0; b && i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		b->insn[i] = (struct fetched){ q, qemu_plugin_insn_vaddr(insn), (uint8_t)qemu_plugin_insn_size(insn) };
		qemu_plugin_register_vcpu_insn_exec_cb(insn, at_insn, QEMU_NO_REGS, &b->insn[i]);
		qemu_plugin_register_vcpu_mem_cb(insn, at_mem, QEMU_NO_REGS, QEMU_MEM_RW, q);
	}
}

static void refs_flushed(void *arg)
{
	struct refs *q = arg;
	struct block *b;

	while ((b = q->block) != NULL) {
		q->block = b->next;
		mem_free(b);
	}
}

/* ---- the end ---------------------------------------------------------------------------------------- */

static void refs_put_row(struct buf *b, const char *name, uint64_t n)
{
	buf_printf(b, "%-24s %llu\n", name, (unsigned long long)n);
}

static void refs_put_translations(struct buf *b, const struct niagara_truth *t)
{
	static const char *const size[MMUSTAT_SIZES] = { "8k", "64k", "4m", "256m" };

	refs_put_row(b, "itlb_miss", t->itlb_miss);
	refs_put_row(b, "dtlb_miss", t->dtlb_miss);
	for (int data = 0; data < 2; data++)
		for (int s = 0; s < MMUSTAT_SIZES; s++)
			if (t->tsb_hit[data][1][s])
				buf_printf(b, "%s_%-*s %llu\n", data ? "dtsb_hit" : "itsb_hit", 15, size[s],
					   (unsigned long long)t->tsb_hit[data][1][s]);
	refs_put_row(b, "tsb_miss", t->tsb_miss);
	refs_put_row(b, "permanent_hit", t->permanent_hit);
	refs_put_row(b, "hardware_walks", t->walks);
}

static void refs_put_memory(struct buf *b, const struct refs *q, const struct niagara_truth *t)
{
	static const char *const served[] = { "l2_local", "l2_remote", "l2_cache_to_cache" };
	char name[32];

	for (size_t i = 0; i < COUNT(served); i++)
		refs_put_row(b, served[i], t->served[i]);
	refs_put_row(b, "writebacks", t->writebacks);
	for (unsigned i = 0; i < q->kind->nodes; i++)
		for (unsigned k = 0; k < COUNT(t->mcu_reads[0]); k++) {
			if (!t->mcu_reads[i][k] && !t->mcu_writes[i][k])
				continue;
			snprintf(name, sizeof(name), "node%u_mcu%u_reads", i, k);
			refs_put_row(b, name, t->mcu_reads[i][k]);
			snprintf(name, sizeof(name), "node%u_mcu%u_writes", i, k);
			refs_put_row(b, name, t->mcu_writes[i][k]);
		}
	refs_put_row(b, "transactions", t->transactions);
}

static void refs_report(struct refs *q)
{
	const struct niagara_truth *t = niagara_truth(q->model->niagara);
	struct buf b = { 0 };

	refs_put_row(&b, "cycles", niagara_now(q->model->niagara));
	refs_put_row(&b, "instructions", t->instructions);
	refs_put_row(&b, "fetches", t->refs[NIAGARA_FETCH]);
	refs_put_row(&b, "loads", t->refs[NIAGARA_LOAD]);
	refs_put_row(&b, "stores", t->refs[NIAGARA_STORE]);
	refs_put_row(&b, "ic_miss", t->ic_miss);
	refs_put_row(&b, "dc_miss", t->dc_miss);
	refs_put_row(&b, "l2_imiss", t->l2_imiss);
	refs_put_row(&b, "l2_dmiss_ld", t->l2_dmiss_ld);
	refs_put_row(&b, "l2_miss_store", t->l2_miss_store);
	refs_put_row(&b, "l2_miss_walk", t->l2_miss_walk);
	refs_put_memory(&b, q, t);
	refs_put_translations(&b, t);
	if (b.failed)
		q->write_errno = ENOMEM;
	else if (q->has_out)
		refs_write(q, b.p, b.n);
	else
		fprintf(stderr, "%.*s", (int)b.n, b.p);
	buf_free(&b);
}

static void refs_say_lost(const struct refs *q)
{
	if (q->lost)
		fprintf(stderr,
			"tally-qemu.so: lost references: %llu (more than %u threads at once, or out of memory)\n",
			(unsigned long long)q->lost, VCPUS_MOST);
	if (q->unseen)
		fprintf(stderr, "tally-qemu.so: unseen instructions: %llu (out of memory)\n",
			(unsigned long long)q->unseen);
	if (q->write_errno)
		fprintf(stderr, "tally-qemu.so: the %s incomplete: %s\n",
			q->model ? "counters are" : "text of the references is", strerror(q->write_errno));
}

static void refs_release(struct refs *q)
{
	refs_flushed(q);
	for (uint32_t i = 0; i < VCPUS_MOST; i++)
		mem_free(q->batch[i]);
	if (q->has_out)
		(void)file_out_close(&q->out);
	model_close(q->model);
	pthread_mutex_destroy(&q->lock);
	mem_free(q);
}

static void refs_ended(void *arg)
{
	struct refs *q = arg;

	for (uint32_t i = 0; i < VCPUS_MOST; i++)
		if (q->batch[i])
			refs_flush_batch(q, q->batch[i]);
	if (q->model)
		refs_report(q);
	if (q->has_out && file_out_close(&q->out) < 0 && !q->write_errno)
		q->write_errno = errno;
	refs_say_lost(q);
	refs_release(q);
}

/* ---- the beginning ----------------------------------------------------------------------------------- */

static int refs_set_up(struct refs *q, const struct qemu_options *o, struct err *e)
{
	const char *path = o->refs ? o->refs : o->log;
	int rc = 0;

	if (!o->refs && (rc = model_open(&q->model, &o->model, e)) < 0)
		return rc;
	q->kind = q->model ? q->model->kind : sun4v_kind(o->model.machine, o->model.sockets);
	if (path) {
		rc = file_out_open(&q->out, path, e);
		q->has_out = rc == 0;
	}
	return rc;
}

static int open_refs(void **ret, int argc, char *const *argv, struct err *e)
{
	struct qemu_options o;
	struct refs *q;
	int rc = refs_options(&o, argc, argv, e);

	if (rc < 0)
		return rc;
	if (o.refs && o.log)
		return err_set(e, TALLY_EINVAL, "log=%s: log= and refs= cannot be combined: refs= runs no model",
			       o.log);
	q = mem_alloc(sizeof(*q));
	if (!q)
		return err_oom(e);
	pthread_mutex_init(&q->lock, NULL);
	rc = refs_set_up(q, &o, e);
	if (rc < 0)
		refs_release(q);
	else
		*ret = q;
	return rc;
}

const struct emulator emulator_refs = {
	.api = 1, .open = open_refs, .translated = refs_translated, .flushed = refs_flushed, .ended = refs_ended
};
