/*
 * sun4v_fuzz.c: any calls of any guests: nothing crashes, an error touches %o0 only, only memory that was lent is
 * written, and nobody counts hyperprivileged events without the right.
 *
 * The input is a machine, and then operations of 8 bytes: what, who, and a number that the arguments are made of.
 */
#include "hv/sun4v.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { GUESTS = 3, STRANDS = 256, RAM = 0x1000, HT = 8 };
#define BASE UINT64_C(0x80000000)

struct world {
	const struct sun4v_kind *kind;
	struct sun4v *s;
	struct sun4v_guest *g[GUESTS];
	struct sun4v_rights rights[GUESTS];
	struct sun4v_vcpu *v[STRANDS];
	uint8_t owner[STRANDS];
	uint64_t pcr[STRANDS], pic[STRANDS], l2[4], reg[VF_REGS];
	uint64_t ram[GUESTS][RAM / 8 + 1]; /* and a word behind it that nobody may write */
	uint32_t no, busy;                 /* bits: what the callbacks say next */
};
struct memory {
	struct world *w;
	uint32_t guest;
};

static bool says_no(uint32_t *bits)
{
	bool no = *bits & 1;

	*bits >>= 1;
	return no;
}

static void *at(void *arg, uint64_t ra, size_t n)
{
	const struct memory *m = arg;

	if (ra < BASE || ra - BASE > RAM || RAM - (ra - BASE) < n || says_no(&m->w->no))
		return NULL;
	return (uint8_t *)m->w->ram[m->guest] + (ra - BASE);
}

static uint64_t *word(struct world *w, uint32_t vcpu, const struct vf_reg *r)
{
	assert(vcpu < STRANDS && r->number < VF_REGS);
	return r->number == 0 ? &w->pcr[vcpu] :
	       r->number == 1 ? &w->l2[vcpu / w->kind->strands_per_node] :
				&w->reg[r->number];
}
static uint64_t reg_read(void *arg, uint32_t vcpu, const struct vf_reg *r)
{
	return *word(arg, vcpu, r);
}
static void reg_write(void *arg, uint32_t vcpu, const struct vf_reg *r, uint64_t value)
{
	assert(!(value & ~r->mask));
	*word(arg, vcpu, r) = value;
}
static bool is_busy(void *arg, const struct vf_reg *r)
{
	assert(r->number >= 18);
	return says_no(&((struct world *)arg)->busy);
}
static uint64_t pic_read(void *arg, uint32_t vcpu)
{
	return ((struct world *)arg)->pic[vcpu];
}
static void pic_write(void *arg, uint32_t vcpu, uint64_t value)
{
	((struct world *)arg)->pic[vcpu] = value;
}
static const struct sun4v_machine_ops ops = {
	.reg_read = reg_read,
	.reg_write = reg_write,
	.busy = is_busy,
	.pic_read = pic_read,
	.pic_write = pic_write,
};

/* ---- operations --------------------------------------------------------------------------------------------- */

static uint64_t argument(uint32_t how, uint64_t n)
{
	static const uint64_t known[] = {
		0, 1, 2, 18, 89, 90, 0x200, 0x205, 0x400, BASE, BASE + RAM - 0x200, BASE + RAM, UINT64_MAX - 0x1ff
	};

	return how % 4 == 0 ? n :
	       how % 4 == 1 ? known[n % COUNT(known)] :
	       how % 4 == 2 ? BASE + n % RAM / 8 * 8 :
			      n % 96;
}

static void call(struct sun4v_vcpu *v, uint8_t how, uint32_t n)
{
	static const uint64_t functions[] = { 0x100, 0x101, 0x102, 0x103, 0x106, 0x107, 0xe0,
					      0xe1,  0xe2,  0xe3,  0,     1,     2,     3 };
	uint64_t o[6] = { argument(how >> 4, n >> 8),
			  argument(how >> 6, n >> 4),
			  argument(n, n >> 12),
			  n,
			  ~(uint64_t)n,
			  n % 16 < COUNT(functions) ? functions[n % 16] : n };
	uint64_t was[6];
	const unsigned traps[] = { HV_FAST_TRAP, HV_FAST_TRAP, HV_CORE_TRAP, n >> 24 };

	memcpy(was, o, sizeof(o));
	(void)sun4v_call(v, traps[how >> 2 & 3], o);
	assert(o[3] == was[3] && o[4] == was[4] && o[5] == was[5]);
	assert(o[0] == HV_EOK || (o[1] == was[1] && o[2] == was[2]));
}

static void open_strand(struct world *w, uint32_t strand, uint32_t guest)
{
	if (!w->v[strand] && w->g[guest] && sun4v_vcpu_open(&w->v[strand], w->g[guest], strand) == 0)
		w->owner[strand] = (uint8_t)guest;
}

static void operate(struct world *w, const uint8_t p[8])
{
	const uint32_t strand = p[1], n = (uint32_t)(p[4] | p[5] << 8 | p[6] << 16) | (uint32_t)p[7] << 24;
	struct sun4v_vcpu *v = w->v[strand];
	uint64_t value = argument(p[2], n);

	w->no = p[3] & 0xf;
	w->busy = p[3] >> 4;
	if (!v) {
		open_strand(w, strand, p[2] % GUESTS);
		return;
	}
	switch (p[0] % 8) {
	case 0:
		(void)sun4v_asr_read(v, p[2] % 2 ? 0x10 + n % 2 : n, &value);
		break;
	case 1:
		(void)sun4v_asr_write(v, p[2] % 2 ? 0x10 + n % 2 : n, (uint64_t)n << p[3] % 32);
		break;
	case 2:
		sun4v_tsb_hit(v, n & 1, n >> 1 & 1, n >> 2 & 3, value);
		break;
	case 3:
		if (n % 8 == 0)
			sun4v_vcpu_reset(v);
		else if (n % 8 == 1) {
			sun4v_vcpu_close(v);
			w->v[strand] = NULL;
		}
		break;
	default:
		call(v, p[2], n);
		break;
	}
	if (!w->rights[w->owner[strand]].ht)
		assert(!(w->pcr[strand] & HT));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world w;
	static const struct {
		const char *name;
		uint32_t sockets;
	} machines[] = {
		{ "niagara", 1 }, { "maramba", 1 }, { "maramba", 2 }, { "batoka", 1 },
		{ "batoka", 2 },  { "batoka", 3 },  { "batoka", 4 },
	};
	struct memory memory[GUESTS];
	struct sun4v_opts o = { .ops = &ops, .arg = &w };

	if (size < 8)
		return 0;
	memset(&w, 0, sizeof(w));
	o.kind = w.kind =
		sun4v_kind(machines[data[0] % COUNT(machines)].name, machines[data[0] % COUNT(machines)].sockets);
	o.profile = data[1] & 1;
	if (sun4v_open(&w.s, &o) < 0)
		return 0;
	for (uint32_t i = 0; i < GUESTS; i++) {
		struct sun4v_guest_opts go = { .rights = { data[2 + i] & 1, data[2 + i] & 2, data[2 + i] & 4,
							   data[2 + i] & 8 } };

		memory[i] = (struct memory){ &w, i };
		go.mem = (struct hv_mem){ .arg = &memory[i], .at = at };
		w.ram[i][RAM / 8] = 0x5afe;
		w.rights[i] = go.rights;
		if (sun4v_guest_open(&w.g[i], w.s, &go) < 0)
			w.g[i] = NULL;
	}
	for (size_t i = 8; i + 8 <= size; i += 8)
		operate(&w, data + i);
	for (uint32_t i = 0; i < GUESTS; i++) {
		assert(w.ram[i][RAM / 8] == 0x5afe);
		sun4v_guest_close(w.g[i]);
	}
	sun4v_close(w.s);
	return 0;
}
