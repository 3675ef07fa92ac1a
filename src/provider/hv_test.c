/* hv_test.c: the probes of hypervisors' counters: names, refusals, args[0], deltas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/range.h"
#include "hv/vf_reg_find.h"
#include "machine/niagara.h"
#include "machine/power.h"
#include "provider/hv_record.h"
#include "provider/provider_int.h"

/* ---- a platform: a model and its service behind a line ----------------------------------------- */

#define BASE 0x10000u

struct platform {
	struct hv_transport transport;
	struct hv_transport_ops op;
	struct power *power;
	struct papr *papr;
	struct niagara *niagara;
	struct sun4v *sun4v;
	struct sun4v_guest *guest;
	struct sun4v_vcpu *vcpu[256];
	struct sun4v_client *client;
	_Alignas(64) uint8_t memory[256 * MMUSTAT_BYTES];
};

static void *at(void *arg, uint64_t ra, size_t n)
{
	struct platform *p = arg;

	return ra < BASE || ra - BASE > sizeof(p->memory) - n ? NULL : p->memory + (ra - BASE);
}

static bool is_memory(void *arg, uint64_t ra, uint64_t n)
{
	return at(arg, ra, n);
}

static int mem_read(void *arg, uint64_t ra, void *to, size_t n)
{
	if (!at(arg, ra, n))
		return -TALLY_EINVAL;
	memcpy(to, at(arg, ra, n), n);
	return 0;
}

static int mem_write(void *arg, uint64_t ra, const void *from, size_t n)
{
	if (!at(arg, ra, n))
		return -TALLY_EINVAL;
	memcpy(at(arg, ra, n), from, n);
	return 0;
}

static int call_papr(void *arg, uint32_t vcpu, uint64_t r[3], struct err *e)
{
	struct platform *p = arg;
	struct hv_mem mem = { p, is_memory, mem_read, mem_write, at };

	(void)e;
	papr_call(p->papr, (struct papr_caller){ .partition = 1, .vcpu = (uint16_t)vcpu }, &mem, r);
	return 0;
}

static int call_sun4v(void *arg, uint32_t vcpu, unsigned trap, uint64_t o[6], struct err *e)
{
	(void)e;
	(void)sun4v_call(((struct platform *)arg)->vcpu[vcpu], trap, o);
	return 0;
}

static int call_asr(void *arg, uint32_t vcpu, uint32_t asr, bool write, uint64_t *value, struct err *e)
{
	struct sun4v_vcpu *v = ((struct platform *)arg)->vcpu[vcpu];

	(void)e;
	return (write ? sun4v_asr_write(v, asr, *value) : sun4v_asr_read(v, asr, value)) ? 0 : -TALLY_EINVAL;
}

static void give_line(struct platform *p, struct hv_transport_ops op)
{
	op.what = "the model";
	p->op = op;
	p->transport = (struct hv_transport){
		.arg = p, .op = &p->op, .memory = p->memory, .base = BASE, .bytes = sizeof(p->memory)
	};
}

static void open_power(struct platform *p, uint8_t level, struct papr_rights rights)
{
	struct power_opts po = { .level = level, .rights = rights, .rights_given = true };
	struct papr_opts so = { .level = level, .ops = &power_ops };
	struct err e = { 0 };

	*p = (struct platform){ 0 };
	give_line(p, (struct hv_transport_ops){ .papr = call_papr });
	assert_int_equal(power_open(&p->power, &po, &e), 0);
	so.arg = p->power;
	assert_int_equal(papr_open(&p->papr, &so), 0);
	p->transport.level = level;
	power_run(p->power, POWER_WINDOW * 10);
}

static void open_sun4v(struct platform *p, const char *machine, struct sun4v_rights rights)
{
	const struct sun4v_kind *kind = sun4v_kind(machine, 0);
	struct niagara_opts no = { .load = "compute", .strands = 1 };
	struct sun4v_opts so = { .kind = kind, .ops = &niagara_ops };
	struct err e = { 0 };

	*p = (struct platform){ 0 };
	give_line(p, (struct hv_transport_ops){ .sun4v = call_sun4v, .asr = call_asr });
	p->transport.strands = kind->nodes * kind->strands_per_node;
	p->transport.strands_per_node = kind->strands_per_node;
	assert_int_equal(niagara_open(&p->niagara, kind, &no, &e), 0);
	so.arg = p->niagara;
	assert_int_equal(sun4v_open(&p->sun4v, &so), 0);
	struct sun4v_guest_opts go = { .rights = rights, .mem = { p, is_memory, mem_read, mem_write, at } };
	assert_int_equal(sun4v_guest_open(&p->guest, p->sun4v, &go), 0);
	for (uint32_t i = 0; i < p->transport.strands; i++)
		assert_int_equal(sun4v_vcpu_open(&p->vcpu[i], p->guest, i), 0);
	assert_int_equal(sun4v_client_open(&p->client, &p->transport, &e), 0);
}

static void close_platform(struct platform *p)
{
	sun4v_client_close(p->client);
	if (p->guest)
		sun4v_guest_close(p->guest);
	sun4v_close(p->sun4v);
	niagara_close(p->niagara);
	papr_close(p->papr);
	power_close(p->power);
}

static const struct papr_rights all_rights = { true, true, true };
static const struct sun4v_rights all_access = { true, true, true, true };

/* ---- names ------------------------------------------------------------------------------------- */

static struct probes *table(struct platform *p)
{
	struct prov_opts o = { .sysfs = "test/sysfs/none",
			       .conf = "/nonexistent/dcpc.conf",
			       .transport = p ? &p->transport : NULL,
			       .sun4v = p ? p->client : NULL };
	struct probes *t;

	assert_int_equal(probes_open(&t, &o), 0);
	return t;
}

static int take(void *arg, uint32_t id)
{
	*(uint32_t *)arg = id;
	return 0;
}

static int match(struct probes *t, const char *prov, const char *name, uint32_t *id, struct err *e)
{
	struct d_probedesc d = { prov, "", "", name };

	*e = (struct err){ 0 };
	return probes_match(t, &d, take, id, e);
}

static const struct probe *probe(struct probes *t, const char *prov, const char *name)
{
	struct err e;
	uint32_t id = 0;

	if (match(t, prov, name, &id, &e) != 1)
		fail_msg("%s:::%s: %s", prov, name, e.text);
	return probes_get(t, id);
}

struct refusal {
	const char *prov, *name, *words;
};
static void refuses(struct probes *t, const struct refusal *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct err e;
		uint32_t id;

		assert_true(match(t, r[i].prov, r[i].name, &id, &e) < 0);
		if (!strstr(e.text, r[i].words))
			fail_msg("%s:::%s: \"%s\" without \"%s\"", r[i].prov, r[i].name, e.text, r[i].words);
	}
}
#define REFUSES(t, ...) \
	refuses(t, (const struct refusal[]){ __VA_ARGS__ }, COUNT(((const struct refusal[]){ __VA_ARGS__ })))

static void without_a_hypervisor_the_words_name_a_model(void **state)
{
	struct probes *t = table(NULL);
	struct err e = { 0 };
	uint32_t id, n = probes_count(t);

	(void)state;
	REFUSES(t,
		{ "gpci", "entitled-1s",
		  "gpci: entitled-1s requires a hypervisor, and this machine has none; "
		  "'tally trace --on power' has one" },
		{ "vfalls", "sample-1s", "--on batoka" }, { "mmustat", "sample-1s", "--on niagara" },
		{ "gpci", "", "--on power" }, { "vfalls", "*", "--on batoka" }, { "mmustat", "s*", "--on niagara" });
	assert_int_equal(match(t, "", "tick-1s", &id, &e), 1);
	assert_int_equal(prov_gpci.offer(t, &e), 0);
	assert_int_equal(prov_vfalls.offer(t, &e), 0);
	assert_int_equal(prov_mmustat.offer(t, &e), 0);
	assert_int_equal(probes_count(t), n + 1);
	probes_close(t);
}

static void another_machine_has_none(void **state)
{
	static struct platform power, batoka, niagara;
	struct probes *t;

	(void)state;
	open_power(&power, 6, all_rights);
	open_sun4v(&batoka, "batoka", all_access);
	open_sun4v(&niagara, "niagara", all_access);
	t = table(&power);
	REFUSES(t, { "vfalls", "sample-1s", "the model has none; '--on batoka'" },
		{ "mmustat", "sample-1s", "'--on niagara'" });
	probes_close(t);
	t = table(&batoka);
	REFUSES(t, { "gpci", "entitled-1s", "the model has none; '--on power'" },
		{ "mmustat", "sample-1s", "only Niagara has" });
	probes_close(t);
	t = table(&niagara);
	REFUSES(t, { "vfalls", "sample-1s", "EBADTRAP" }, { "vfalls", "mem_reads-1s", "EBADTRAP" });
	probes_close(t);
	close_platform(&power);
	close_platform(&batoka);
	close_platform(&niagara);
}

static void an_interval_is_checked_by_its_token(void **state)
{
	static struct platform power;
	struct probes *t;

	(void)state;
	open_power(&power, 6, all_rights);
	t = table(&power);
	REFUSES(t, { "gpci", "entitled-0s", "0s is no interval" }, { "gpci", "entitled-1x", "unknown unit \"x\"" },
		{ "gpci", "entitled-", "invalid rate or interval" },
		{ "gpci", "entitled-99us", "99us is below the minimum" }, { "gpci", "entitled-1000000d", "too large" },
		{ "gpci", "entilted-1s", "no request \"entilted\"; did you mean entitled?" },
		{ "gpci", "entitled", "no probe \"entitled\"; there is entitled-INTERVAL, e.g. entitled-1s" },
		{ "gpci", "mmcrh-1s", "tally set gpci/mmcrh=VALUE" });
	assert_int_equal(probe(t, "gpci", "entitled-10ms")->tick_ns, 10000000);
	assert_int_equal(probe(t, "gpci", "entitled-4")->tick_ns, 250000000);
	assert_int_equal(probe(t, "", "links_wxyz-500ms")->tick_ns, 500000000);
	probes_close(t);
	close_platform(&power);
}

static void what_firmware_and_rights_refuse_matches_nothing(void **state)
{
	static struct platform old, none;
	struct probes *t;

	(void)state;
	open_power(&old, 0, all_rights);
	t = table(&old);
	REFUSES(t, { "gpci", "queuing_times-1s",
		     "gpci: queuing_times: not on this firmware or machine (H_Not_Available)" });
	assert_non_null(probe(t, "gpci", "hpmc-1s"));
	probes_close(t);
	open_power(&none, 6, (struct papr_rights){ 0 });
	t = table(&none);
	REFUSES(t, { "gpci", "dispatch_purr-1s", "H_Authority" }, { "gpci", "links_abc-1s", "H_Authority" });
	assert_non_null(probe(t, "gpci", "entitled-1s")); /* its own record */
	assert_non_null(probe(t, "gpci", "capabilities-1s"));
	probes_close(t);
	close_platform(&old);
	close_platform(&none);
}

static int sum(void *arg, uint32_t id)
{
	(void)id;
	++*(uint32_t *)arg;
	return 0;
}

static uint32_t all_of(struct probes *t, const char *prov, const char *name)
{
	struct d_probedesc d = { prov, "", "", name };
	struct err e = { 0 };
	uint32_t n = 0;

	(void)probes_match(t, &d, sum, &n, &e);
	return n;
}

static void a_listing_has_what_can_be_had(void **state)
{
	static struct platform full, none, batoka, niagara;
	struct probes *t;

	(void)state;
	open_power(&full, 6, all_rights);
	open_power(&none, 6, (struct papr_rights){ 0 });
	open_sun4v(&batoka, "batoka", all_access);
	open_sun4v(&niagara, "niagara", all_access);
	t = table(&full);
	assert_uint_in_range(all_of(t, "gpci", ""), 15, 25);
	assert_int_equal(all_of(t, "gpci", "links_?*-1s"), 3); /* not those of GX, which nobody counts */
	assert_int_equal(all_of(t, "gpci", "mmcrh*"), 0);
	probes_close(t);
	t = table(&none);
	assert_int_equal(all_of(t, "gpci", "*"), 7); /* 0x40, and its own of 0x20, 0x30, 0x95, 0xa0, 0xb1, 0xe0 */
	probes_close(t);
	t = table(&batoka);
	assert_int_equal(all_of(t, "vfalls", "sample-*"), 1);
	assert_true(all_of(t, "vfalls", "") > 80);
	assert_int_equal(all_of(t, "mmustat", ""), 0);
	assert_int_equal(all_of(t, "vfalls", "none-*"), 0);
	probes_close(t);
	t = table(&niagara);
	assert_int_equal(all_of(t, "vfalls", ""), 0);
	assert_int_equal(all_of(t, "mmustat", ""), 1);
	probes_close(t);
	close_platform(&full);
	close_platform(&none);
	close_platform(&batoka);
	close_platform(&niagara);
}

static void a_guest_without_access_has_no_registers(void **state)
{
	static struct platform p;
	struct probes *t;

	(void)state;
	open_sun4v(&p, "batoka", (struct sun4v_rights){ 0 });
	t = table(&p);
	REFUSES(t, { "vfalls", "sample-1s", "ENOACCESS" }, { "vfalls", "mem_reads-1s", "ENOACCESS" },
		{ "vfalls", "mem_raeds-1s", "did you mean mem_reads?" },
		{ "vfalls", "sampel-1s", "did you mean sample?" });
	assert_string_equal(probe(t, "vfalls", "Instr_cnt-1s")->data, "Instr_cnt");
	probes_close(t);
	close_platform(&p);
}

/* ---- args[] ----------------------------------------------------------------------------------------- */

/* The layout whose record is behind args[0] of type struct gpci_NAME. */
static const struct gpci_request *request_behind(const struct d_args *a, uint8_t level)
{
	const struct gpci_request *r;

	for (uint32_t i = 0; (r = gpci_request_at(i)) != NULL; i++)
		if (!strcmp(r->name, a->name + strlen("struct gpci_")))
			return gpci_request(r->number, level, UINT8_MAX);
	fail_msg("no request behind %s", a->name);
	return NULL;
}

static void members_are_sound(const struct d_args *a, size_t context)
{
	assert_true(a->size <= context && a->size % 8 == 0 && a->size < D_ARGS_BYTES);
	for (uint32_t i = 0; i < a->nfields; i++) {
		const struct d_field *f = &a->field[i];

		assert_true(f->offset % 8 == 0 && f->size % 8 == 0 && f->offset + f->size <= a->size);
		assert_true(!strcmp(f->type, "string") || (!strcmp(f->type, "uint64_t") && f->size == 8));
		for (uint32_t k = 0; k < i; k++) {
			assert_string_not_equal(f->name, a->field[k].name);
			assert_true(f->offset >= a->field[k].offset + a->field[k].size ||
				    f->offset + f->size <= a->field[k].offset);
		}
	}
}

static bool has_member(const struct d_args *a, const char *prefix, const char *name)
{
	for (uint32_t i = 0; i < a->nfields; i++)
		if (!strncmp(a->field[i].name, prefix, strlen(prefix)) &&
		    !strcmp(a->field[i].name + strlen(prefix), name))
			return true;
	return false;
}

/* papr_gpci.txt, 0x50: records have a time of each link up to version 2, and one total from 3 on. */
static void args_are_those_of_the_firmware_that_answers(void **state)
{
	(void)state;
	for (uint8_t level = 0; level <= 3; level += 3) {
		static struct platform power;
		struct probes *t;

		open_power(&power, level, all_rights);
		t = table(&power);
		const struct d_args *a = probe_args(probe(t, "gpci", "links_abc-1s"), 0);
		assert_int_equal(has_member(a, "d_", "time_a"), level == 0);
		assert_int_equal(has_member(a, "d_", "total"), level == 3);
		assert_true(has_member(a, "d_", "idle_a"));
		probes_close(t);
		close_platform(&power);
	}
}

static void args_are_the_fields_of_the_request(void **state)
{
	static struct platform power, batoka, niagara;
	struct probes *t;

	(void)state;
	open_power(&power, 6, all_rights);
	t = table(&power);
	assert_true(all_of(t, "gpci", "") > 0);
	for (uint32_t id = 1; id <= probes_count(t); id++) {
		const struct probe *p = probes_get(t, id);
		const struct d_args *a = probe_args(p, 0);
		const struct gpci_request *r;

		if (p->prov != &prov_gpci)
			continue;
		assert_null(probe_args(p, 1));
		members_are_sound(a, sizeof(struct gpci_context));
		assert_true(has_member(a, "", "ns") && has_member(a, "", "id") && has_member(a, "", "request"));
		r = request_behind(a, 6);
		for (uint32_t i = 0; i < r->nfields; i++) {
			assert_true(has_member(a, "", r->field[i].name));
			assert_int_equal(has_member(a, "d_", r->field[i].name),
					 (r->field[i].flags & GPCI_F_COUNTER) != 0);
		}
	}
	assert_ptr_equal(probe_args(probe(t, "gpci", "entitled-1s"), 0),
			 probe_args(probe(t, "gpci", "entitled-2s"), 0));
	assert_true(has_member(probe_args(probe(t, "gpci", "affinity_by_partition-1s"), 0), "", "shared_units"));
	probes_close(t);
	open_sun4v(&batoka, "batoka", all_access);
	t = table(&batoka);
	members_are_sound(probe_args(probe(t, "vfalls", "sample-1s"), 0), sizeof(struct vf_context));
	assert_ptr_equal(probe_args(probe(t, "vfalls", "sample-1s"), 0),
			 probe_args(probe(t, "vfalls", "mem_reads-1s"), 0));
	probes_close(t);
	open_sun4v(&niagara, "niagara", all_access);
	t = table(&niagara);
	members_are_sound(probe_args(probe(t, "mmustat", "sample-1s"), 0), sizeof(struct mmustat_context));
	probes_close(t);
	close_platform(&power);
	close_platform(&batoka);
	close_platform(&niagara);
}

/* ---- deltas ---------------------------------------------------------------------------------------------- */

static void a_delta_is_since_the_last_reading_by_id(void **state)
{
	const struct gpci_request *r = gpci_request_find("entitled");
	struct gpci_values last = { .id = 3, .v = { 3, 100, 50 } }, now = { .id = 3, .v = { 3, 170, 20 } };
	struct gpci_context c = { 0 };

	(void)state;
	gpci_context_fill(&c, r, 5, &now, &last, 0);
	assert_int_equal(c.ns, 5);
	assert_int_equal(c.id, 3);
	assert_string_equal(c.request, "entitled");
	assert_int_equal(c.value[1], 170);
	assert_int_equal(c.delta[1], 70);
	assert_int_equal(c.delta[2], 20);           /* it went back: a partition of that id is new */
	gpci_context_fill(&c, r, 5, &now, NULL, 0); /* it was not there */
	assert_int_equal(c.delta[1], 170);
}

static void a_link_that_is_not_wired_counts_nothing(void **state)
{
	const struct gpci_request *r = gpci_request(0x50, 0, 0);
	struct gpci_values last = { 0 }, now = { 0 };
	struct gpci_context c = { 0 };

	(void)state;
	for (uint32_t i = 0; i < r->nfields; i++)
		now.v[i] = last.v[i] = UINT64_MAX >> (64 - 8 * r->field[i].bytes);
	gpci_context_fill(&c, r, 0, &now, &last, 0);
	for (uint32_t i = 0; i < r->nfields; i++)
		assert_int_equal(c.delta[i], 0);
	assert_int_equal(c.value[1], UINT64_MAX);
	gpci_context_fill(&c, r, 0, &now, NULL, 0);
	assert_int_equal(c.delta[1], 0);
}

static void a_domain_is_an_element(void **state)
{
	struct gpci_values v = { .id = 2,
				 .nelements = 2,
				 .element = { { 0, 1, { 10, 20, 30, 0 } }, { 1, 4, { 40, 50, 60, 0 } } } };
	struct gpci_context c = { 0 };

	(void)state;
	gpci_context_fill(&c, gpci_request_find("affinity_by_partition"), 0, &v, NULL, 1);
	assert_int_equal(c.element, 1);
	assert_int_equal(c.domain[0], 1);
	assert_int_equal(c.domain[1], 4);
	assert_int_equal(c.domain[3], 50);
	assert_int_equal(c.domain[4], 60);
	v.nelements = 0;
	gpci_context_fill(&c, gpci_request_find("affinity_by_partition"), 0, &v, NULL, 0);
	assert_int_equal(c.domain[3], 0);
}

static void registers_wrap_at_their_width(void **state)
{
	const struct vf_reg *mcu = vf_reg_find("NODE0_MCU0_PIC"), *zam = vf_reg_find("ZAM1_ASU_PIC1"),
			    *pcr = vf_reg_find("ZAM1_ASU_PCR");
	uint32_t code, pic;

	(void)state;
	assert_int_equal(vf_delta(mcu, 5ull << 32 | 2, 0x7fffffffull << 32 | 0x7ffffffe), 6 + 4);
	assert_int_equal(vf_delta(zam, 1, zam->mask), 2);
	assert_int_equal(vf_delta(pcr, 7, 1), 0);
	assert_ptr_equal(vf_control_of(zam, &pic), pcr);
	assert_int_equal(pic, 1);
	assert_ptr_equal(vf_control_of(mcu, &pic), vf_reg_find("NODE0_MCU0_PCR"));
	assert_true(vf_selects(pcr, "asu_in_pck", &code) && code == 2);
	assert_false(vf_selects(pcr, "mem_reads", &code) || vf_selects(zam, "asu_in_pck", &code));
	assert_true(vf_selects(&vf_regs[0], "TLB_miss", &code));
	assert_false(vf_selects(&vf_regs[1], "TLB_miss", &code));
}

static void slots_are_those_of_the_buffer(void **state)
{
	struct mmustat now = { 0 }, last = { 0 };
	struct mmustat_context c = { 0 };

	(void)state;
	now.at[1][0][MMUSTAT_4M].hits = 9;
	now.at[1][0][MMUSTAT_4M].ticks = 90;
	last.at[1][0][MMUSTAT_4M].hits = 4;
	mmustat_context_fill(&c, 10, 1, 31, &now, &last);
	assert_string_equal(c.size, "4M");
	assert_string_equal(c.context, "ctx0");
	assert_string_equal(c.side, "D");
	assert_int_equal(c.bytes, 4 << 20);
	assert_int_equal(c.cpu, 31);
	assert_int_equal(c.d_hits, 5);
	assert_int_equal(c.d_ticks, 90);
	mmustat_context_fill(&c, MMUSTAT_SLOTS - 1, 1, 0, &now, &last);
	assert_string_equal(c.size, "256M");
	assert_string_equal(c.context, "ctxnon0");
}

/* ---- memory ------------------------------------------------------------------------------------------------ */

static void out_of_memory_is_an_error_and_leaks_nothing(void **state)
{
	static struct platform p;
	long live;

	(void)state;
	open_power(&p, 6, all_rights);
	live = mem_live();
	for (long n = 1;; n++) {
		struct prov_opts o = { .sysfs = "test/sysfs/none",
				       .conf = "/nonexistent/dcpc.conf",
				       .transport = &p.transport };
		struct probes *t = NULL;
		struct err e;
		uint32_t id;
		int rc;

		mem_fail_at(n);
		rc = probes_open(&t, &o);
		if (rc == 0)
			rc = match(t, "gpci", "", &id, &e);
		if (rc >= 0)
			rc = match(t, "gpci", "entitled-3s", &id, &e);
		probes_close(t);
		assert_int_equal(mem_live(), live);
		if (!mem_failed())
			break;
		assert_true(rc == -TALLY_ENOMEM || rc == 1);
	}
	mem_fail_at(0);
	close_platform(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_hypervisor_the_words_name_a_model),
		cmocka_unit_test(another_machine_has_none),
		cmocka_unit_test(an_interval_is_checked_by_its_token),
		cmocka_unit_test(what_firmware_and_rights_refuse_matches_nothing),
		cmocka_unit_test(a_listing_has_what_can_be_had),
		cmocka_unit_test(a_guest_without_access_has_no_registers),
		cmocka_unit_test(args_are_those_of_the_firmware_that_answers),
		cmocka_unit_test(args_are_the_fields_of_the_request),
		cmocka_unit_test(a_delta_is_since_the_last_reading_by_id),
		cmocka_unit_test(a_link_that_is_not_wired_counts_nothing),
		cmocka_unit_test(a_domain_is_an_element),
		cmocka_unit_test(registers_wrap_at_their_width),
		cmocka_unit_test(slots_are_those_of_the_buffer),
		cmocka_unit_test(out_of_memory_is_an_error_and_leaks_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
