/* sun4v_guest_test.c: the guest's library over a transport that is a function call, and a machine whose words the test
 * moves. */
#include "hv/sun4v_guest_int.h"
#include "hv/sun4v_test_int.h"

/* the transport, and what goes over it */
struct wire {
	struct rig r;
	struct hv_transport transport;
	struct sun4v_vcpu *v[STRANDS];
	uint32_t calls, gone_at; /* gone_at: the call that finds nobody any more */
	uint32_t busy_sets;      /* so many sets say EWOULDBLOCK, whatever is set */
	uint32_t others;         /* strands below it are another guest's */
};
static struct wire w;

static int wire_gone(struct wire *x, struct err *e)
{
	return ++x->calls == x->gone_at ? err_set(e, TALLY_EEND, "the platform is gone") : 0;
}

static int wire_sun4v(void *arg, uint32_t vcpu, unsigned n, uint64_t o[6], struct err *e)
{
	struct wire *x = arg;
	int rc = vcpu < x->others ? err_set(e, TALLY_EBUSY, "strand %u belongs to another guest", vcpu) :
				    wire_gone(x, e);

	if (rc == 0 && o[5] == SUN4V_SET_PERFREG && n == HV_FAST_TRAP && x->busy_sets) {
		x->busy_sets--;
		o[0] = HV_EWOULDBLOCK;
	} else if (rc == 0) {
		sun4v_call(rig_strand(&x->r, x->v, vcpu), n, o);
	}
	return rc;
}

static int wire_asr(void *arg, uint32_t vcpu, uint32_t asr, bool write, uint64_t *value, struct err *e)
{
	struct wire *x = arg;
	int rc = wire_gone(x, e);

	if (rc == 0)
		assert_true(write ? sun4v_asr_write(rig_strand(&x->r, x->v, vcpu), asr, *value) :
				    sun4v_asr_read(rig_strand(&x->r, x->v, vcpu), asr, value));
	return rc;
}

static const struct hv_transport_ops wire_ops = { .what = "the test's machine", .sun4v = wire_sun4v, .asr = wire_asr };

static void wire_open(const char *machine, uint32_t sockets, uint8_t profile, struct sun4v_rights rights)
{
	memset(&w, 0, sizeof(w));
	rig_open(&w.r, machine, sockets, profile, rights, 0);
	w.v[0] = w.r.v;
	w.transport = rig_transport(&w.r, &wire_ops, &w);
}

static struct sun4v_client *client(const char *machine, uint32_t sockets, struct sun4v_rights rights)
{
	struct sun4v_client *c;
	struct err e = { 0 };

	wire_open(machine, sockets, SUN4V_PROFILE_SPEC, rights);
	assert_int_equal(sun4v_client_open(&c, &w.transport, &e), 0);
	return c;
}

static void done(struct sun4v_client *c)
{
	sun4v_client_close(c);
	rig_close(&w.r);
}

static struct vf_counter *counter(struct sun4v_client *c, struct vf_counter_ask ask)
{
	struct vf_counter *k = NULL;
	struct err e = { 0 };

	assert_int_equal(vf_counter_open(&k, c, &ask, &e), 0);
	return k;
}

static uint64_t count(struct vf_counter *k)
{
	uint64_t v = 0;
	struct err e = { 0 };

	assert_int_equal(vf_counter_read(k, &v, &e), 0);
	return v;
}

static void refuses(struct sun4v_client *c, struct vf_counter_ask ask, enum tally_err code, const char *says)
{
	struct vf_counter *k = NULL;
	struct err e = { 0 };

	assert_int_equal(vf_counter_open(&k, c, &ask, &e), -(int)code);
	assert_non_null(strstr(e.text, says));
	assert_null(k);
}

/* ---- negotiation and probing --------------------------------------------------------------------------- */

static void the_highest_version_is_negotiated(void **state)
{
	struct sun4v_client *c;

	(void)state;
	c = client("batoka", 4, all_rights);
	assert_int_equal(c->minor, 1);
	assert_true(c->perf && !c->mmustat);
	done(c);
	c = client("niagara", 1, all_rights);
	assert_int_equal(c->minor, 0);
	assert_true(!c->perf && c->mmustat);
	done(c);
}

static int no_api(void *arg, uint32_t vcpu, unsigned n, uint64_t o[6], struct err *e)
{
	(void)arg, (void)vcpu, (void)n, (void)e;
	o[0] = HV_EINVAL;
	return 0;
}

static int only_1_0(void *arg, uint32_t vcpu, unsigned n, uint64_t o[6], struct err *e)
{
	if (n == HV_CORE_TRAP && o[0] == 0x205)
		o[2] = 0;
	return wire_sun4v(arg, vcpu, n, o, e);
}

static void a_machine_with_neither_api_is_refused(void **state)
{
	static const struct hv_transport_ops none = { .what = "an old machine", .sun4v = no_api },
					     deaf = { .what = "a POWER machine" };
	struct sun4v_client *c = NULL;
	struct err e = { 0 }, f = { 0 };

	(void)state;
	wire_open("batoka", 1, SUN4V_PROFILE_SPEC, all_rights);
	w.transport.op = &none;
	assert_int_equal(sun4v_client_open(&c, &w.transport, &e), -TALLY_ENOTSUP);
	assert_non_null(strstr(e.text, "an old machine"));
	w.transport.op = &deaf;
	assert_int_equal(sun4v_client_open(&c, &w.transport, &f), -TALLY_ENOTSUP);
	assert_non_null(strstr(f.text, "a POWER machine"));
	assert_null(c);
	sun4v_client_close(NULL);
	rig_close(&w.r);
}

static void what_any_strand_may_ask_is_asked_on_an_own_one(void **state)
{
	struct sun4v_client *c;
	struct err e = { 0 };
	uint64_t v;

	(void)state;
	wire_open("batoka", 4, SUN4V_PROFILE_SPEC, all_rights);
	w.others = 100;
	assert_int_equal(sun4v_client_open(&c, &w.transport, &e), 0);
	assert_int_equal(sun4v_client_home(c), 100);
	assert_int_equal(c->minor, 1);
	assert_false(sun4v_client_has(c, 99));
	assert_true(sun4v_client_has(c, 100));
	assert_false(sun4v_client_has(c, 256));
	assert_int_equal(vf_get(c, 0, 89, &v, &e), 0); /* everybody's */
	assert_int_equal(vf_set(c, 0, 2, 0x10, &e), 0);
	assert_int_equal(vf_get(c, 0, 1, &v, &e), -TALLY_EBUSY); /* the node's of that strand */
	assert_non_null(strstr(e.text, "another guest"));
	done(c);
}

static void without_a_strand_there_is_no_guest(void **state)
{
	struct sun4v_client *c = NULL;
	struct err e = { 0 };

	(void)state;
	wire_open("niagara", 1, SUN4V_PROFILE_SPEC, all_rights);
	w.others = STRANDS;
	assert_int_equal(sun4v_client_open(&c, &w.transport, &e), -TALLY_EBUSY);
	assert_non_null(strstr(e.text, "strand 0 belongs to another guest"));
	assert_null(c);
	rig_close(&w.r);
}

static void with_api_1_0_the_zambezi_registers_are_not_there(void **state)
{
	static const struct hv_transport_ops old = { .what = "an older hypervisor",
						     .sun4v = only_1_0,
						     .asr = wire_asr };
	struct sun4v_client *c;
	struct err e = { 0 };

	(void)state;
	wire_open("batoka", 4, SUN4V_PROFILE_SPEC, all_rights);
	w.transport.op = &old;
	assert_int_equal(sun4v_client_open(&c, &w.transport, &e), 0);
	assert_int_equal(c->minor, 0);
	assert_int_equal(vf_probe(c, 0, 17, &e), 0);
	assert_int_equal(vf_probe(c, 0, 18, &e), -TALLY_ENOTSUP);
	done(c);
}

static void probing_says_which_of_the_90_may_be_read_and_why_not(void **state)
{
	struct sun4v_client *c = client("maramba", 2, (struct sun4v_rights){ .perf = true, .strand = true });

	(void)state;
	for (uint32_t reg = 0; reg < 100; reg++) {
		struct err e = { 0 };
		int want = reg == 0 ? 0 : reg < 10 ? -TALLY_EPERM : reg < 90 ? -TALLY_ENOTSUP : -TALLY_EINVAL;

		assert_int_equal(vf_probe(c, 0, reg, &e), want);
		if (want)
			assert_non_null(strstr(e.text, reg < 90 ? vf_regs[reg].name : "register 9"));
	}
	done(c);
}

static void a_right_that_is_missing_is_named_and_the_rest_goes_on(void **state)
{
	const struct vf_counter_ask user = { .event = 0x302, .user = true },
				    hyper = { .event = 0x302, .user = true, .hyper = true },
				    local = { .event = 0x320, .user = true, .class = 1 }, mcu = { .reg = 2 };
	struct sun4v_client *c = client("batoka", 4, (struct sun4v_rights){ .perf = true, .strand = true });
	struct vf_counter *k;

	(void)state;
	refuses(c, mcu, TALLY_EPERM, "NODE0_MCU0_PCR");
	refuses(c, hyper, TALLY_EPERM, "SPARC_PCR");
	refuses(c, local, TALLY_EPERM, "L2_CR");
	assert_int_equal(w.r.m.pcr[0] & 0xffffffff, 0); /* nothing stays behind of what was refused */
	k = counter(c, user);
	w.r.m.pic[0] = 5;
	assert_int_equal(count(k), 5);
	vf_counter_close(k);
	done(c);
}

/* ---- EWOULDBLOCK ------------------------------------------------------------------------------------------- */

static void a_busy_hub_is_asked_again_a_bounded_number_of_times(void **state)
{
	struct sun4v_client *c = client("batoka", 4, all_rights);
	struct err e = { 0 }, f = { 0 };
	uint64_t value = 0;

	(void)state;
	w.r.m.reg[19] = 77;
	w.r.m.busy = SUN4V_TRIES - 1;
	assert_int_equal(vf_get(c, 0, 19, &value, &e), 0);
	assert_int_equal(value, 77);
	w.r.m.busy = SUN4V_TRIES - 1;
	assert_int_equal(vf_set(c, 0, 19, 78, &e), 0);
	assert_int_equal(w.r.m.reg[19], 78);
	w.r.m.busy = UINT32_MAX;
	w.calls = 0;
	assert_int_equal(vf_get(c, 0, 19, &value, &e), -TALLY_EBUSY);
	assert_int_equal(w.calls, SUN4V_TRIES);
	assert_int_equal(vf_set(c, 0, 19, 79, &f), -TALLY_EBUSY);
	assert_int_equal(w.calls, 2 * SUN4V_TRIES);
	assert_non_null(strstr(f.text, "ZAM0_LPU_A_PIC0"));
	assert_int_equal(w.r.m.reg[19], 78);
	assert_int_equal(value, 77);
	w.r.m.busy = 0;
	done(c);
}

/* The specification lists EWOULDBLOCK for all registers, so it is expected of all. */
static void any_set_may_say_so(void **state)
{
	struct sun4v_client *c = client("batoka", 4, all_rights);
	struct err e = { 0 };

	(void)state;
	w.busy_sets = 5;
	assert_int_equal(vf_set(c, 0, 2, 0x12, &e), 0);
	assert_int_equal(w.r.m.reg[2], 0x12);
	done(c);
}

/* ---- widening ------------------------------------------------------------------------------------------------- */

/* A counter of `bits` that goes on by `step` a hundred times, each time just short of twice around or less. */
static void check_wraps(struct vf_counter *k, uint64_t *word, uint32_t shift, uint32_t bits, uint64_t step)
{
	const uint64_t mask = UINT64_MAX >> (64 - bits);
	uint64_t total = count(k);

	for (uint32_t i = 1; i <= 100; i++) {
		uint64_t now = ((*word >> shift & mask) + step) & mask;

		*word = (*word & ~(mask << shift)) | now << shift;
		total += step;
		assert_int_equal(count(k), total);
	}
}

static void counters_of_31_32_and_64_bits_only_grow(void **state)
{
	static const uint64_t steps[] = { 0, 1, 0x7ffffffe, 0x7fffffff, 0x12345678 };
	struct sun4v_client *c = client("batoka", 4, all_rights);

	(void)state;
	for (uint32_t i = 0; i < COUNT(steps); i++) {
		struct vf_counter *mcu0 = counter(c, (struct vf_counter_ask){ .reg = 4, .event = 1 }),
				  *mcu1 = counter(c, (struct vf_counter_ask){ .reg = 4, .event = 2 }),
				  *pic0 = counter(c,
						  (struct vf_counter_ask){ .vcpu = 9, .event = 0x302, .user = true }),
				  *pic1 = counter(c,
						  (struct vf_counter_ask){ .vcpu = 9, .event = 0x301, .user = true }),
				  *lpu0 = counter(c, (struct vf_counter_ask){ .reg = 18, .event = 1 }),
				  *lpu1 = counter(c, (struct vf_counter_ask){ .reg = 18, .event = 0x27 });

		check_wraps(mcu0, &w.r.m.reg[5], 32, 31, steps[i]);
		check_wraps(mcu1, &w.r.m.reg[5], 0, 31, steps[i]);
		check_wraps(pic0, &w.r.m.pic[9], 0, 32, steps[i] * 2);
		check_wraps(pic1, &w.r.m.pic[9], 32, 32, steps[i] * 2 + (i > 0));
		check_wraps(lpu0, &w.r.m.reg[19], 0, 64, steps[i] << 32);
		check_wraps(lpu1, &w.r.m.reg[20], 0, 64, steps[i]);
		vf_counter_close(mcu0);
		vf_counter_close(lpu1);
		vf_counter_close(pic1);
		vf_counter_close(lpu0);
		vf_counter_close(mcu1);
		vf_counter_close(pic0);
	}
	done(c);
}

static void what_a_counter_held_when_it_was_opened_is_not_counted(void **state)
{
	struct sun4v_client *c = client("batoka", 4, all_rights);
	struct vf_counter *k;

	(void)state;
	w.r.m.reg[5] = 0x7ffffff0ull << 32 | 5;
	k = counter(c, (struct vf_counter_ask){ .reg = 4, .event = 0 });
	assert_int_equal(count(k), 0);
	w.r.m.reg[5] = 0x10ull << 32 | 6;
	assert_int_equal(count(k), 0x20);
	assert_int_equal(w.r.m.reg[5], 0x10ull << 32 | 6); /* a count is never written */
	vf_counter_close(k);
	done(c);
}

/* ---- programming ------------------------------------------------------------------------------------------------ */

static void both_halves_of_a_pair_are_used_and_a_third_is_refused(void **state)
{
	struct sun4v_client *c = client("batoka", 4, all_rights);
	struct vf_counter *a, *b;

	(void)state;
	w.r.m.reg[2] = 0x77; /* somebody's selection */
	a = counter(c, (struct vf_counter_ask){ .reg = 2, .event = 1 });
	assert_int_equal(w.r.m.reg[2], 0x17); /* PIC0 is the upper nibble, the other half stays */
	b = counter(c, (struct vf_counter_ask){ .reg = 2, .event = 5 });
	assert_int_equal(w.r.m.reg[2], 0x15);
	refuses(c, (struct vf_counter_ask){ .reg = 2, .event = 6 }, TALLY_EBUSY, "NODE0_MCU0_PCR");
	assert_int_equal(w.r.m.reg[2], 0x15);
	vf_counter_close(a);
	assert_int_equal(w.r.m.reg[2], 0x75); /* what it was comes back */
	a = counter(c, (struct vf_counter_ask){ .reg = 2, .event = 6 });
	assert_int_equal(w.r.m.reg[2], 0x65);
	vf_counter_close(b);
	vf_counter_close(a);
	assert_int_equal(w.r.m.reg[2], 0x77);
	vf_counter_close(NULL);
	done(c);
}

static void a_zambezi_units_selections_are_a_byte_each(void **state)
{
	struct sun4v_client *c = client("batoka", 4, all_rights);
	struct vf_counter *a = counter(c, (struct vf_counter_ask){ .reg = 72, .event = 0x27 }),
			  *b = counter(c, (struct vf_counter_ask){ .reg = 72, .event = 0x11 });

	(void)state;
	assert_int_equal(w.r.m.reg[72], 0x1127);
	vf_counter_close(a);
	vf_counter_close(b);
	assert_int_equal(w.r.m.reg[72], 0);
	done(c);
}

static void a_strands_two_counters_share_their_modes(void **state)
{
	struct sun4v_client *c = client("batoka", 4, all_rights);
	struct vf_counter *a, *b;

	(void)state;
	w.r.m.pcr[7] = 1ull << 31 | 1ull << 18 | 1; /* both have overflown; user code may read the counters */
	a = counter(c, (struct vf_counter_ask){ .vcpu = 7, .event = 0x320, .user = true, .hyper = true });
	assert_int_equal(w.r.m.pcr[7] & 0xffffffff,
			 1ull << 31 | 1ull << 18 | 3ull << 14 | 0x20 << 6 | 1 << 3 | 1 << 2 | 1);
	refuses(c, (struct vf_counter_ask){ .vcpu = 7, .event = 0x302, .user = true }, TALLY_EBUSY, "modes");
	b = counter(c, (struct vf_counter_ask){ .vcpu = 7, .event = 0xb0c, .user = true, .hyper = true });
	assert_int_equal(w.r.m.pcr[7] >> 19 & 0xfff, 0xb0c);
	refuses(c, (struct vf_counter_ask){ .vcpu = 7, .event = 0x302, .user = true, .hyper = true }, TALLY_EBUSY,
		"two counters");
	vf_counter_close(a);
	assert_int_equal(w.r.m.pcr[7] & 0xf, 0xd); /* the other one counts on */
	assert_int_equal(w.r.m.pcr[7] >> 6 & 0xfff, 0);
	vf_counter_close(b);
	assert_int_equal(w.r.m.pcr[7] & 0xffffffff, 1ull << 31 | 1ull << 18 | 1);
	done(c);
}

static void other_strands_have_modes_of_their_own(void **state)
{
	struct sun4v_client *c = client("batoka", 4, all_rights);
	struct vf_counter *a = counter(c, (struct vf_counter_ask){ .vcpu = 7, .event = 0x302, .user = true }),
			  *b = counter(c, (struct vf_counter_ask){ .vcpu = 8, .event = 0x302, .system = true });

	(void)state;
	assert_int_equal(w.r.m.pcr[7] & 0xe, 4);
	assert_int_equal(w.r.m.pcr[8] & 0xe, 2);
	vf_counter_close(a);
	vf_counter_close(b);
	done(c);
}

static void a_node_counts_one_class_of_misses_at_a_time(void **state)
{
	const struct vf_counter_ask local = { .vcpu = 64, .event = 0x320, .user = true, .class = 1 };
	struct vf_counter_ask near = local, far = local, other = local;
	struct sun4v_client *c = client("batoka", 4, all_rights);
	struct vf_counter *a, *b, *d;

	(void)state;
	w.r.m.l2[1] = 3; /* as somebody left it */
	near.vcpu = 127;
	far.vcpu = 128;
	far.class = 2;
	other.class = 2;
	a = counter(c, local);
	assert_int_equal(w.r.m.l2[1], 1);
	refuses(c, other, TALLY_EBUSY, "another class");
	other.vcpu = 127;
	refuses(c, other, TALLY_EBUSY, "another class");
	b = counter(c, near); /* the same class on the same node */
	d = counter(c, far);  /* another node */
	assert_int_equal(w.r.m.l2[1], 1);
	assert_int_equal(w.r.m.l2[2], 2);
	vf_counter_close(a);
	assert_int_equal(w.r.m.l2[1], 1);
	vf_counter_close(b);
	assert_int_equal(w.r.m.l2[1], 3);
	a = counter(c, other);
	assert_int_equal(w.r.m.l2[1], 2);
	vf_counter_close(a);
	vf_counter_close(d);
	assert_int_equal(w.r.m.l2[2], 0);
	done(c);
}

/* DC misses are not what PERF_CONFIG narrows. */
static void other_events_leave_the_class_alone(void **state)
{
	struct sun4v_client *c = client("batoka", 4, all_rights);
	struct vf_counter *k;

	(void)state;
	w.r.m.l2[0] = 2;
	k = counter(c, (struct vf_counter_ask){ .event = 0x302, .user = true });
	assert_int_equal(w.r.m.l2[0], 2);
	vf_counter_close(k);
	assert_int_equal(w.r.m.l2[0], 2);
	done(c);
}

static void niagara_has_counters_but_no_classes(void **state)
{
	struct sun4v_client *c = client("niagara", 1, all_rights);
	struct vf_counter *k = counter(c, (struct vf_counter_ask){ .event = 0x320, .user = true });

	(void)state;
	vf_counter_close(k);
	refuses(c, (struct vf_counter_ask){ .vcpu = 1, .event = 0x320, .user = true, .class = 1 }, TALLY_ENOTSUP,
		"L2_CR");
	refuses(c, (struct vf_counter_ask){ .vcpu = 1, .event = 0x302, .hyper = true }, TALLY_ENOTSUP, "SPARC_PCR");
	refuses(c, (struct vf_counter_ask){ .reg = 2 }, TALLY_ENOTSUP, "EBADTRAP");
	done(c);
}

static void what_is_no_control_register_or_strand_is_refused(void **state)
{
	struct sun4v_client *c = client("batoka", 2, all_rights);

	(void)state;
	for (uint32_t reg = 0; reg < 256; reg++)
		if (reg >= VF_REGS || vf_regs[reg].cls == VF_L2_CR || vf_regs[reg].cls == VF_MCU_PIC ||
		    vf_regs[reg].cls >= VF_ZAM_PIC0)
			refuses(c, (struct vf_counter_ask){ .reg = reg }, TALLY_EINVAL, "selects no event");
	refuses(c, (struct vf_counter_ask){ .vcpu = 128, .event = 0x302 }, TALLY_EINVAL, "no such strand: 128");
	refuses(c, (struct vf_counter_ask){ .reg = 10 }, TALLY_ENOTSUP, "NODE2_MCU0_PCR");
	done(c);
}

/* ---- MMU statistics -------------------------------------------------------------------------- */

static void each_strand_gets_a_clean_buffer_and_gives_it_back(void **state)
{
	struct sun4v_client *c = client("niagara", 1, all_rights);
	struct mmustat s;
	struct err e = { 0 };

	(void)state;
	memset(w.r.memory, 0x5a, sizeof(w.r.memory));
	assert_int_equal(mmustat_start(c, 5, &e), 0);
	assert_int_equal(mmustat_start(c, 6, &e), 0);
	for (uint32_t k = 0; k < 16; k++)
		for (uint32_t i = 0; i <= k; i++)
			sun4v_tsb_hit(w.v[5], k >> 3, k >> 2 & 1, k & 3, 10 + k);
	assert_int_equal(mmustat_read(c, 5, &s, &e), 0);
	for (uint32_t k = 0; k < 16; k++) {
		assert_int_equal(s.at[k >> 3][k >> 2 & 1][k & 3].hits, k + 1);
		assert_int_equal(s.at[k >> 3][k >> 2 & 1][k & 3].ticks, (k + 1) * (10 + k));
	}
	assert_int_equal(mmustat_read(c, 6, &s, &e), 0);
	assert_int_equal(s.at[1][1][3].hits, 0);
	assert_int_equal(mmustat_stop(c, 5, &e), 0);
	assert_int_equal(mmustat_stop(c, 5, &e), 0);
	memset(w.r.memory, 0, sizeof(w.r.memory));
	sun4v_tsb_hit(w.v[5], true, true, MMUSTAT_8K, 1);
	assert_int_equal(mmustat_read(c, 5, &s, &e), -TALLY_ESTATE);
	sun4v_client_close(c); /* and with the client the rest */
	sun4v_tsb_hit(w.v[6], true, true, MMUSTAT_8K, 1);
	for (uint32_t i = 0; i < SCRATCH / 8; i++)
		assert_int_equal(w.r.memory[i], 0);
	rig_close(&w.r);
}

static void buffers_that_cannot_be_had_are_refused_with_the_reason(void **state)
{
	struct sun4v_client *c = client("batoka", 1, all_rights);
	struct err e = { 0 }, f = { 0 }, g = { 0 }, h = { 0 };
	struct mmustat s;

	(void)state;
	assert_int_equal(mmustat_start(c, 0, &e), -TALLY_ENOTSUP);
	assert_non_null(strstr(e.text, "Niagara"));
	done(c);
	c = client("niagara", 1, all_rights);
	w.transport.bytes = 6 * MMUSTAT_BYTES - 1;
	assert_int_equal(mmustat_start(c, 4, &f), 0);
	assert_int_equal(mmustat_start(c, 5, &f), -TALLY_ENOMEM);
	assert_int_equal(mmustat_start(c, 32, &g), -TALLY_EINVAL);
	w.transport.base = RAM_BASE + 8; /* a transport whose memory is not where a buffer may be */
	assert_int_equal(mmustat_start(c, 4, &h), -TALLY_EINVAL);
	assert_non_null(strstr(h.text, "EBADALIGN"));
	assert_int_equal(mmustat_read(c, 4, &s, NULL), -TALLY_ESTATE);
	done(c);
}

/* ---- words ----------------------------------------------------------------------------------- */

static void values_are_told_by_their_fields(void **state)
{
	static const struct {
		uint32_t reg;
		uint64_t value;
		const char *text;
	} rows[] = {
		{ 0, 3ull << 14 | 0x20 << 6 | 4 | 0xbull << 27 | 0x0cull << 19,
		  "event0=L2_dmiss_ld event1=TLB_miss priv=0 system=0 user=1 hyper=0 toe0=0 toe1=0 ov0=0 ov1=0" },
		{ 0, 3ull << 14 | 0x03 << 6 | 1ull << 31 | 0x3b,
		  "event0=0x303 event1=Idle_strands priv=1 system=1 user=0 hyper=1 toe0=1 toe1=1 ov0=0 ov1=1" },
		{ 1, 0, "misses=all" },
		{ 1, 1, "misses=local" },
		{ 1, 2, "misses=remote" },
		{ 1, 3, "misses=cache-to-cache" },
		{ 2, 0x17, "event0=mem_writes event1=wb_buf_hits" },
		{ 2, 0x3f, "event0=0x3 event1=0xf" },
		{ 3, 5ull << 32 | 6, "pic0=5 pic1=6" },
		{ 18, 0x2701, "event0=clock_cycles event1=cycles_replys_sent" },
		{ 30, 1, "event0=clock_cycles event1=none" },
		{ 33, 0x0504, "event0=asu_CAM_hit event1=asu_wakeup" },
		{ 19, UINT64_MAX, "count=18446744073709551615" },
	};
	struct buf b = { 0 };

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		buf_clear(&b);
		vf_fields(&vf_regs[rows[i].reg], rows[i].value, &b);
		assert_string_equal(b.p, rows[i].text);
	}
	buf_free(&b);
}

static void a_value_that_finds_no_memory_has_no_words(void **state)
{
	static const uint32_t regs[] = { 0, 1, 2, 3, 18, 19 };

	(void)state;
	for (uint32_t i = 0; i < COUNT(regs); i++)
		for (long n = 1;; n++) {
			struct buf b = { 0 };
			bool failed;

			mem_fail_at(n);
			vf_fields(&vf_regs[regs[i]], 1, &b);
			failed = mem_failed();
			mem_fail_at(0);
			assert_int_equal(b.failed, failed);
			assert_true(failed || b.p[b.n - 1] != ' ');
			buf_free(&b);
			if (!failed)
				break;
		}
}

/* ---- when the platform goes, and without memory ---------------------------------------------- */

static int everything(struct err *e)
{
	struct sun4v_client *c = NULL;
	struct vf_counter *k[3] = { NULL };
	uint64_t v;
	int rc = sun4v_client_open(&c, &w.transport, e);

	if (rc == 0)
		rc = vf_counter_open(&k[0], c,
				     &(struct vf_counter_ask){
					     .event = 0x320, .user = true, .hyper = true, .class = 2 },
				     e);
	if (rc == 0)
		rc = vf_counter_open(&k[1], c,
				     &(struct vf_counter_ask){
					     .event = 0x310, .user = true, .hyper = true, .class = 2 },
				     e);
	if (rc == 0)
		rc = vf_counter_open(&k[2], c, &(struct vf_counter_ask){ .reg = 18, .event = 1 }, e);
	for (uint32_t i = 0; rc == 0 && i < COUNT(k); i++)
		rc = vf_counter_read(k[i], &v, e);
	for (uint32_t i = 0; i < COUNT(k); i++)
		vf_counter_close(k[i]);
	sun4v_client_close(c);
	return rc;
}

static void a_platform_that_goes_at_any_call_is_an_error_and_no_more(void **state)
{
	long live = mem_live();

	(void)state;
	for (uint32_t at = 1;; at++) {
		struct err e = { 0 };
		int rc;

		wire_open("batoka", 4, SUN4V_PROFILE_SPEC, all_rights);
		w.gone_at = at;
		rc = everything(&e);
		rig_close(&w.r);
		assert_int_equal(mem_live(), live);
		if (w.calls < at) {
			assert_int_equal(rc, 0);
			break;
		}
		assert_true(rc == 0 || rc == -TALLY_EEND); /* 0: it went while the counters were put back */
	}
}

static void without_memory_nothing_stays_behind(void **state)
{
	(void)state;
	wire_open("batoka", 4, SUN4V_PROFILE_SPEC, all_rights);
	for (long n = 1, live = mem_live();; n++) {
		struct err e = { 0 };
		int rc;

		mem_fail_at(n);
		rc = everything(&e);
		assert_int_equal(mem_live(), live);
		if (!mem_failed()) {
			assert_int_equal(rc, 0);
			break;
		}
		assert_int_equal(rc, -TALLY_ENOMEM);
		assert_int_equal(w.r.m.pcr[0] & 0xf, 0);
		assert_int_equal(w.r.m.l2[0], 0);
	}
	mem_fail_at(0);
	rig_close(&w.r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_highest_version_is_negotiated),
		cmocka_unit_test(a_machine_with_neither_api_is_refused),
		cmocka_unit_test(what_any_strand_may_ask_is_asked_on_an_own_one),
		cmocka_unit_test(without_a_strand_there_is_no_guest),
		cmocka_unit_test(with_api_1_0_the_zambezi_registers_are_not_there),
		cmocka_unit_test(probing_says_which_of_the_90_may_be_read_and_why_not),
		cmocka_unit_test(a_right_that_is_missing_is_named_and_the_rest_goes_on),
		cmocka_unit_test(a_busy_hub_is_asked_again_a_bounded_number_of_times),
		cmocka_unit_test(any_set_may_say_so),
		cmocka_unit_test(counters_of_31_32_and_64_bits_only_grow),
		cmocka_unit_test(what_a_counter_held_when_it_was_opened_is_not_counted),
		cmocka_unit_test(both_halves_of_a_pair_are_used_and_a_third_is_refused),
		cmocka_unit_test(a_zambezi_units_selections_are_a_byte_each),
		cmocka_unit_test(a_strands_two_counters_share_their_modes),
		cmocka_unit_test(other_strands_have_modes_of_their_own),
		cmocka_unit_test(a_node_counts_one_class_of_misses_at_a_time),
		cmocka_unit_test(other_events_leave_the_class_alone),
		cmocka_unit_test(niagara_has_counters_but_no_classes),
		cmocka_unit_test(what_is_no_control_register_or_strand_is_refused),
		cmocka_unit_test(each_strand_gets_a_clean_buffer_and_gives_it_back),
		cmocka_unit_test(buffers_that_cannot_be_had_are_refused_with_the_reason),
		cmocka_unit_test(values_are_told_by_their_fields),
		cmocka_unit_test(a_value_that_finds_no_memory_has_no_words),
		cmocka_unit_test(a_platform_that_goes_at_any_call_is_an_error_and_no_more),
		cmocka_unit_test(without_memory_nothing_stays_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
