/*
 * niagara_count.c: registers, and what a counter shows.
 *
 * A counter shows its value, plus what the totals of its selection have grown since
 * it was marked, modulo its width.  Writing it, or changing what it counts, settles
 * it: the value is brought up to date and the mark set anew.  Whoever writes a strand's registers is its
 * own thread; registers of a node or hub may be written by several at once, and then the last one wins.
 */
#include "machine/niagara_int.h"

enum {
	PCR_ST = 1,
	PCR_UT = 2,
	PCR_HT = 3,
	PCR_MASK0 = 6,
	PCR_SL0 = 14,
	PCR_OV0 = 18,
	PCR_MASK1 = 19,
	PCR_SL1 = 27,
	PCR_OV1 = 31,
	PCR_HOLDOV0 = 62
};
#define BIT(n) (UINT64_C(1) << (n))
#define PIC_BITS 32u
#define MCU_PIC_MASK 0x7fffffffu
#define SL_INSTRUCTIONS 2u
#define ALL_INSTRUCTIONS 0xfdu /* all but 0x02, which repeats some */

static void count_put_total(total *t, uint64_t v)
{
	atomic_store_explicit(t, v, memory_order_relaxed);
}

static_assert(SPARC_EVENTS <= 16, "they are bits of niagara.events and of a selection");

/* ---- what is modelled ------------------------------------------------------------------------------- */

/* The events of a SPARC select class, by bit; 0: not modelled.  So are branches, arithmetic, "other" instructions (they
 * would be among them), stream and crypto units, idle strands.  What misses level 1 goes to the crossbar (class 5). */
static const uint8_t sparc_event[16][8] = {
	[2] = { [3] = EV_LD, [4] = EV_ST, [7] = EV_ATOMIC },
	[3] = { [0] = EV_IC, [1] = EV_DC, [4] = EV_L2I, [5] = EV_L2D },
	[4] = { [2] = EV_IWALK, [3] = EV_DWALK, [4] = EV_IWALK_MISS, [5] = EV_DWALK_MISS },
	[5] = { [2] = EV_DC, [3] = EV_IC, [4] = EV_WRITE, [5] = EV_WALK },
	[11] = { [2] = EV_ITLB, [3] = EV_DTLB },
};
#define EVENTS_OF_WALKS (1u << EV_IWALK | 1u << EV_DWALK | 1u << EV_IWALK_MISS | 1u << EV_DWALK_MISS | 1u << EV_WALK)

/* All instruction classes at once are all instructions, whatever their class; taken branches are among them. */
static bool is_all_instructions(uint32_t sl, uint32_t mask)
{
	return sl == SL_INSTRUCTIONS && (mask & ALL_INSTRUCTIONS) == ALL_INSTRUCTIONS;
}

/* What a select class and its mask count, as bits; 0: something that is not modelled, also together with what is. */
static uint16_t events_of(const struct sun4v_kind *kind, uint32_t sl, uint32_t mask)
{
	const uint32_t never = 1u << EV_INSTRUCTIONS | (kind->mmustat ? EVENTS_OF_WALKS : 0);
	uint32_t events = 0;

	if (is_all_instructions(sl, mask))
		return 1u << EV_INSTRUCTIONS;
	for (; mask; mask &= mask - 1)
		events |= 1u << sparc_event[sl][__builtin_ctz(mask)];
	return events & never ? 0 : (uint16_t)events;
}

static bool models_lpu(uint16_t code)
{
	/* Not: non-CSR data, read-to-discard, I/O, cycles without something, hits in write-back buffers, errors and
	 * retraining. */
	static const uint8_t not_modelled[] = {
		0x05, 0x09, 0x0d, 0x10, 0x13, 0x14, 0x18, 0x1a, 0x1b, 0x1f, 0x26, 0x29
	};

	for (uint32_t i = 0; i < COUNT(not_modelled); i++)
		if (not_modelled[i] == code)
			return false;
	return code < LPU_EVENTS;
}

bool niagara_models(const struct sun4v_kind *kind, enum vf_eventset set, uint16_t code)
{
	switch (set) {
	case VF_EVENTS_SPARC:
		return code >> 8 < 16 && events_of(kind, code >> 8, code & 0xff);
	case VF_EVENTS_MCU:
		return code < 8 && code != 3;
	case VF_EVENTS_LPU:
		return kind->zambezis && models_lpu(code);
	case VF_EVENTS_GPD:
		return kind->zambezis && code < 2;
	case VF_EVENTS_ASU:
		return kind->zambezis && code < ASU_EVENTS;
	}
	return false;
}

/* ---- a strand's PIC ----------------------------------------------------------------------------- */

/* What counter `pic` counts: events, from bit 16 levels by enum niagara_level; 0: nothing. */
static inline uint64_t select_of(const struct niagara *n, uint64_t pcr, uint32_t pic)
{
	const uint32_t events =
		n->events[pcr >> (pic ? PCR_SL1 : PCR_SL0) & 0xf][pcr >> (pic ? PCR_MASK1 : PCR_MASK0) & 0xff];
	const uint64_t levels = (pcr >> PCR_UT & 1) << NIAGARA_USER | (pcr >> PCR_ST & 1) << NIAGARA_SYSTEM |
				(pcr >> PCR_HT & 1) << NIAGARA_HYPER;

	return events ? levels << 16 | events : 0;
}

static inline uint64_t pic_total(const struct strand *s, uint64_t select)
{
	uint64_t sum = 0;

	for (uint64_t events = select & 0xffff; events; events &= events - 1)
		for (uint32_t level = 0; level < LEVELS; level++)
			sum += now_of(&s->event[level][__builtin_ctzll(events)]) & -(select >> (16 + level) & 1);
	return sum;
}

/* What it shows, with what went over its 32 bits above them. */
static inline uint64_t pic_now(const struct strand *s, uint32_t pic)
{
	const struct counter *c = &s->pic[pic];

	return now_of(&c->value) + pic_total(s, now_of(&s->select[pic])) - now_of(&c->mark);
}

static inline uint64_t pcr_overflow_bit(uint32_t pic, uint64_t value)
{
	return value >> PIC_BITS ? BIT(pic ? PCR_OV1 : PCR_OV0) : 0;
}

/* The control register, with what the counters add to it: that they have gone over. */
static uint64_t pcr_read(const struct strand *s)
{
	return now_of(&s->pcr) | pcr_overflow_bit(0, pic_now(s, 0)) | pcr_overflow_bit(1, pic_now(s, 1));
}

static void pcr_write(const struct niagara *n, struct strand *s, uint64_t pcr)
{
	const uint64_t was = now_of(&s->pcr);

	for (uint32_t i = 0; i < 2; i++) {
		const uint64_t old = now_of(&s->select[i]), select = select_of(n, pcr, i),
			       ov = BIT(i ? PCR_OV1 : PCR_OV0);
		const uint64_t all = pic_total(s, old),
			       value = now_of(&s->pic[i].value) + all - now_of(&s->pic[i].mark);

		if (pcr & BIT(PCR_HOLDOV0 + i))
			pcr = (pcr & ~(ov | BIT(PCR_HOLDOV0 + i))) | (was & ov) | pcr_overflow_bit(i, value);
		count_put_total(&s->pic[i].value, (uint32_t)value);
		count_put_total(&s->pic[i].mark, select == old ? all : pic_total(s, select));
		count_put_total(&s->select[i], select);
	}
	count_put_total(&s->pcr, pcr);
}

static uint64_t pic_read(void *arg, uint32_t vcpu)
{
	const struct strand *s = &((const struct niagara *)arg)->strand[vcpu];

	return (uint32_t)pic_now(s, 0) | pic_now(s, 1) << PIC_BITS;
}

/* A counter that had gone over has said so in OV for good. */
static void pic_write(void *arg, uint32_t vcpu, uint64_t value)
{
	struct strand *s = &((struct niagara *)arg)->strand[vcpu];

	count_put_total(&s->pcr, pcr_read(s));
	for (uint32_t i = 0; i < 2; i++) {
		count_put_total(&s->pic[i].value, (uint32_t)(value >> (i ? PIC_BITS : 0)));
		count_put_total(&s->pic[i].mark, pic_total(s, now_of(&s->select[i])));
	}
}

/* ---- selections of nodes and hubs ----------------------------------------------------------------- */

static const total nothing;

static struct choice mcu_choice(struct niagara *n, const struct vf_reg *r)
{
	struct mcu *m = &n->node[r->node].mcu[r->unit & 1];

	return (struct choice){ &m->unit, m->event, NULL, COUNT(m->event), { 4, 0 }, 0xf };
}

static struct choice zam_choice(struct niagara *n, const struct vf_reg *r)
{
	struct zambezi *z = &n->zambezi[r->node];
	struct choice c = { &z->unit[r->unit - 1], NULL, &n->clock, 0, { 0, 8 }, 0xff };

	if (r->unit == VF_UNIT_ASU) {
		c.event = z->asu;
		c.events = COUNT(z->asu);
	} else if (r->unit <= VF_UNIT_LPU_D) {
		c.event = z->lpu[r->unit - VF_UNIT_LPU_A];
		c.events = LPU_EVENTS;
	}
	return c;
}

static const total *unit_of(const struct unit *u, uint32_t pic)
{
	return atomic_load_explicit(&u->of[pic], memory_order_relaxed);
}

static uint64_t unit_now(const struct unit *u, uint32_t pic)
{
	return now_of(&u->pic[pic].value) + now_of(unit_of(u, pic)) - now_of(&u->pic[pic].mark);
}

static void unit_put(struct unit *u, uint32_t pic, uint64_t value, const total *of)
{
	count_put_total(&u->pic[pic].value, value);
	count_put_total(&u->pic[pic].mark, now_of(of));
}

static void unit_select(const struct choice *c, uint64_t pcr)
{
	struct unit *u = c->unit;

	for (uint32_t i = 0; i < 2; i++) {
		const uint64_t value = unit_now(u, i);
		const uint32_t code = pcr >> c->shift[i] & c->mask;
		const total *of = code == 1 && c->clock ? c->clock : code < c->events ? &c->event[code] : &nothing;

		atomic_store_explicit(&u->of[i], of, memory_order_relaxed);
		unit_put(u, i, value, of);
	}
	count_put_total(&u->pcr, pcr);
}

/* Registers are zero: which selects what has code 0, of memory controllers reads. */
void count_open(struct niagara *n)
{
	for (uint32_t i = 0; i < COUNT(n->events) * 256; i++)
		n->events[i / 256][i % 256] = events_of(n->kind, i / 256, i % 256);
	for (uint32_t i = 2; i < VF_REGS; i++) {
		struct choice *c = &n->choice[i];

		*c = vf_regs[i].cls < VF_ZAM_PCR ? mcu_choice(n, &vf_regs[i]) : zam_choice(n, &vf_regs[i]);
		atomic_store_explicit(&c->unit->of[0], &nothing, memory_order_relaxed);
		atomic_store_explicit(&c->unit->of[1], &nothing, memory_order_relaxed);
		unit_select(c, 0);
	}
}

static uint64_t unit_read(const struct unit *u, enum vf_class class)
{
	switch (class) {
	case VF_MCU_PIC:
		return (unit_now(u, 0) & MCU_PIC_MASK) << 32 | (unit_now(u, 1) & MCU_PIC_MASK);
	case VF_ZAM_PIC0:
		return unit_now(u, 0);
	case VF_ZAM_PIC1:
		return unit_now(u, 1);
	default:
		return now_of(&u->pcr);
	}
}

static void unit_write(const struct choice *c, enum vf_class class, uint64_t value)
{
	struct unit *u = c->unit;

	switch (class) {
	case VF_MCU_PIC:
		unit_put(u, 0, value >> 32, unit_of(u, 0));
		unit_put(u, 1, (uint32_t)value, unit_of(u, 1));
		break;
	case VF_ZAM_PIC0:
		unit_put(u, 0, value, unit_of(u, 0));
		break;
	case VF_ZAM_PIC1:
		unit_put(u, 1, value, unit_of(u, 1));
		break;
	default:
		unit_select(c, value);
		break;
	}
}

/* ---- registers ------------------------------------------------------------------------------------- */

static uint64_t reg_read(void *arg, uint32_t vcpu, const struct vf_reg *r)
{
	struct niagara *n = arg;

	if (r->cls == VF_SPARC_PCR)
		return pcr_read(&n->strand[vcpu]);
	if (r->cls == VF_L2_CR)
		return now_of(&n->strand[vcpu].node->l2_cr);
	return unit_read(n->choice[r->number].unit, r->cls);
}

static void reg_write(void *arg, uint32_t vcpu, const struct vf_reg *r, uint64_t value)
{
	struct niagara *n = arg;

	if (r->cls == VF_SPARC_PCR)
		pcr_write(n, &n->strand[vcpu], value);
	else if (r->cls == VF_L2_CR)
		count_put_total(&n->strand[vcpu].node->l2_cr, value);
	else
		unit_write(&n->choice[r->number], r->cls, value);
}

static uint64_t count_strand_tick(void *arg, uint32_t vcpu)
{
	const struct niagara *n = arg;
	uint64_t own = now_of(&n->strand[vcpu].cycles), clock = now_of(&n->clock);

	return own > clock ? own : clock; /* a strand that does nothing has a time too */
}

/* ---- the path to a hub's registers ------------------------------------------------------------------- */

/* A hub counts in narrow counters and adds them to the registers over the one path there is: after so many
 * transactions, for so many. A refused call takes time, of which nobody tells the model: after so many refusals in one
 * moment the update is over. */
#define UPDATE_EACH 256u
#define UPDATE_LASTS 16u
#define UPDATE_REFUSALS 4u

/* A schedule: the next accesses find the path taken, whatever the hub does. */
static bool is_made_busy(struct zambezi *z)
{
	uint32_t was = atomic_load_explicit(&z->busy, memory_order_relaxed);

	while (was && !atomic_compare_exchange_weak(&z->busy, &was, was - 1))
		;
	return was > 0;
}

static bool count_register_busy(void *arg, const struct vf_reg *r)
{
	struct zambezi *z = &((struct niagara *)arg)->zambezi[r->node];
	const uint64_t taken = now_of(&z->asu[ASU_IN]);
	uint64_t before, refusals;

	if (is_made_busy(z))
		return true;
	if (taken % UPDATE_EACH < UPDATE_EACH - UPDATE_LASTS)
		return false;
	before = now_of(&z->refused);
	refusals = before / UPDATE_REFUSALS == taken ? before % UPDATE_REFUSALS : 0;
	if (refusals + 1 == UPDATE_REFUSALS)
		return false;
	count_put_total(&z->refused, taken * UPDATE_REFUSALS + refusals + 1);
	return true;
}

const struct sun4v_machine_ops niagara_ops = {
	.reg_read = reg_read,
	.reg_write = reg_write,
	.busy = count_register_busy,
	.pic_read = pic_read,
	.pic_write = pic_write,
	.tick = count_strand_tick,
};
