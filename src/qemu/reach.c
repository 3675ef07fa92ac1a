/*
 * reach.c: what an emulator of the plugin reaches of its guest: registers, memory by real address, and instructions
 * that it waits for.
 *
 * What a callback needs lies in a struct for each such instruction, kept until QEMU throws its translations away.
 *
 * Memory is looked at from `begin` to `end` alone, where the machine of that kind has no device: reading one may change
 * it.
 *
 * Thread rule: all under the lock, which the emulators take.
 */
#include "qemu/qemu_int.h"

/* ---- memory ----------------------------------------------------------------------------------- */

int reach_read(void *arg, uint64_t ra, void *to, size_t n)
{
	struct reach *x = arg;

	if (!n)
		return 0;
	g_byte_array_set_size(x->bytes, (unsigned)n);
	if (qemu_plugin_read_memory_hwaddr(ra, x->bytes, n) || x->bytes->len < n)
		return -1;
	memcpy(to, x->bytes->data, n);
	return 0;
}

int reach_write(void *arg, uint64_t ra, const void *from, size_t n)
{
	struct reach *x = arg;

	if (!n)
		return 0;
	g_byte_array_set_size(x->bytes, (unsigned)n);
	memcpy(x->bytes->data, from, n);
	return qemu_plugin_write_memory_hwaddr(ra, x->bytes) ? -1 : 0;
}

bool reach_is(void *arg, uint64_t ra, uint64_t n)
{
	const struct reach *x = arg;
	uint8_t byte;

	if (ra < x->begin || ra >= x->end || n > x->end - ra)
		return false;
	for (uint64_t at = ra; at < ra + n; at = (at | (x->block - 1)) + 1)
		if (reach_read(arg, at, &byte, 1) < 0)
			return false;
	return !n || reach_read(arg, ra + n - 1, &byte, 1) == 0;
}

/* ---- registers --------------------------------------------------------------------------------- */

bool reach_get(struct reach *x, unsigned i, bool little, uint64_t *ret)
{
	uint64_t v;

	g_byte_array_set_size(x->bytes, 0);
	if (!x->r[i] || !qemu_plugin_read_register(x->r[i], x->bytes) || x->bytes->len != sizeof(v))
		return false;
	memcpy(&v, x->bytes->data, sizeof(v));
	*ret = little ? v : __builtin_bswap64(v);
	return true;
}

bool reach_set(struct reach *x, unsigned i, bool little, uint64_t v)
{
	v = little ? v : __builtin_bswap64(v);
	g_byte_array_set_size(x->bytes, sizeof(v));
	memcpy(x->bytes->data, &v, sizeof(v));
	return qemu_plugin_write_register(x->r[i], x->bytes);
}

void reach_vcpu(unsigned vcpu, void *emulator)
{
	struct reach *x = emulator;
	GArray *all = qemu_plugin_get_registers();
	const qemu_plugin_reg_descriptor *d = (const void *)all->data;

	(void)vcpu;
	pthread_mutex_lock(&x->lock);
	for (unsigned i = 0; i < all->len; i++)
		for (unsigned k = 0; k < x->nnames; k++)
			if (!strcmp(d[i].name, x->names[k]))
				x->r[k] = d[i].handle;
	pthread_mutex_unlock(&x->lock);
	g_array_free(all, true);
}

/* ---- instructions ------------------------------------------------------------------------------- */

uint32_t insn_word(const struct qemu_plugin_insn *insn)
{
	uint8_t b[4];

	if (qemu_plugin_insn_data(insn, b, sizeof(b)) != sizeof(b))
		return 0;
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

struct site *reach_site(struct reach *x, void *emulator, uint64_t pc, uint32_t kind)
{
	struct site *s;

	pthread_mutex_lock(&x->lock);
	for (s = x->site; s; s = s->next)
		if (s->pc == pc && s->kind == kind)
			break;
	if (!s && (s = mem_alloc(sizeof(*s))) != NULL) {
		*s = (struct site){ .emulator = emulator, .pc = pc, .kind = kind, .next = x->site };
		x->site = s;
	}
	pthread_mutex_unlock(&x->lock);
	return s;
}

void reach_flush(void *emulator)
{
	struct reach *x = emulator;
	struct site *s;

	while ((s = x->site) != NULL) {
		x->site = s->next;
		mem_free(s);
	}
}

/* ---- one's own ------------------------------------------------------------------------------------ */

void reach_open(struct reach *x, const char *const *names, unsigned n, uint64_t begin, uint64_t end, uint64_t block)
{
	*x = (struct reach){ .names = names, .nnames = n, .begin = begin, .end = end, .block = block };
	pthread_mutex_init(&x->lock, NULL);
	x->bytes = g_byte_array_new();
}

void reach_close(struct reach *x)
{
	reach_flush(x);
	g_byte_array_free(x->bytes, true);
	pthread_mutex_destroy(&x->lock);
}
