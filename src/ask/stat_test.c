/*
 * stat_test.c: stat and check over a machine that does what a test says, and over the models.
 */
#include "ask/output_test_int.h"
#include "ask/stat_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

/* ---- a hypervisor that says what a test wants of `entitled` ------------------------------------ */

struct record {
	uint64_t partition, entitled, capped;
};
#define READINGS 4u
#define RECORDS 4u
struct fake {
	struct hv_transport_ops op;
	uint8_t memory[GPCI_MOST];
	struct record at[READINGS][RECORDS]; /* by reading: as many as have a partition */
	uint32_t readings;
	uint64_t ns;
	bool by_second; /* at[] is what each second has; else what each call gets */
	bool gone;
	int64_t code;     /* answered instead, from the second reading on; 0: none */
	uint64_t stop_ns; /* when somebody stops it; 0: nobody does */
	volatile int stop;
	struct buf out, notes;
};

static void record_put(uint8_t *p, const struct record *r)
{
	memset(p, 0, 48);
	be64_put(p, r->partition);
	be64_put(p + 8, r->entitled);
	be64_put(p + 16, r->capped);
}

static int fake_papr(void *arg, uint32_t vcpu, uint64_t r[3], struct err *e)
{
	struct fake *f = arg;
	const struct record *now;
	uint32_t n;

	(void)vcpu;
	if (f->gone && f->readings)
		return err_set(e, TALLY_EEND, "the machine went away");
	if (f->memory[3] != 0x20) {
		r[0] = (uint64_t)H_NOT_AVAILABLE;
		return 0;
	}
	if (f->code && f->readings) {
		r[0] = (uint64_t)f->code;
		return 0;
	}
	n = f->by_second ? (uint32_t)(f->ns / 1000000000) : f->readings;
	now = f->at[n < READINGS ? n : READINGS - 1];
	for (n = 0; n < RECORDS && now[n].partition; n++)
		record_put(f->memory + GPCI_HEADER + n * 48u, &now[n]);
	f->memory[0xb] = (uint8_t)n;
	f->memory[0x11] = 48;
	f->memory[0x13] = 6;
	f->readings++;
	r[0] = H_SUCCESS;
	return 0;
}

static void fake_advance(void *arg, uint64_t ns)
{
	struct fake *f = arg;

	f->ns += ns;
	f->stop |= f->stop_ns && f->ns >= f->stop_ns;
}

static uint64_t fake_now(void *arg)
{
	return ((struct fake *)arg)->ns;
}

static struct tally_platform *platform(struct fake *f)
{
	struct tally_platform *p = platform_open_noted("power", &f->notes);

	f->op = (struct hv_transport_ops){
		.what = "a fake", .papr = fake_papr, .advance = fake_advance, .now = fake_now
	};
	p->transport = (struct hv_transport){
		.arg = f, .op = &f->op, .level = 6, .memory = f->memory, .bytes = sizeof(f->memory)
	};
	p->has_transport = true;
	return p;
}

static struct tally_stat_opts asking(struct fake *f, const char *events, uint32_t count)
{
	return (struct tally_stat_opts){
		.size = sizeof(struct tally_stat_opts),
		.events = events,
		.interval_ns = 10000000,
		.count = count,
		.to = { .size = sizeof(struct tally_out), .out = buf_take, .arg = &f->out, .format = TALLY_FORMAT_CSV }
	};
}

static void done(struct fake *f, struct tally_platform *p)
{
	tally_platform_close(p);
	buf_free(&f->out);
	buf_free(&f->notes);
	assert_int_equal(mem_live(), 0);
}

/* ---- what happens to records ------------------------------------------------------------------------ */

static void records_are_followed_by_id(void **state)
{
	struct fake f = { .at = { { { 2, 100, 10 }, { 5, 100, 50 } },
				  { { 2, 110, 15 }, { 3, 7, 3 }, { 5, 120, 60 } },
				  { { 3, 9, 4 }, { 5, 90, 70 } } } };
	struct tally_platform *p = platform(&f);
	struct tally_stat_opts s = asking(&f, "gpci/entitled,field=entitled/", 2);

	(void)state;
	assert_int_equal(tally_stat(p, &s, NULL), 0);
	assert_string_equal(
		buf_text(&f.out),
		"type,time,delta,value,unit,id,name,selector,raw,status,why\n"
		"count,0.01,10,10,PURR cycles,partition=2,entitled.entitled,\"gpci/entitled,field=entitled/\",110,ok,\n"
		"count,0.01,,0,PURR cycles,partition=3,entitled.entitled,\"gpci/entitled,field=entitled/\",7,came,\n"
		"count,0.01,20,20,PURR cycles,partition=5,entitled.entitled,\"gpci/entitled,field=entitled/\",120,ok,\n"
		"count,0.02,,10,PURR cycles,partition=2,entitled.entitled,\"gpci/entitled,field=entitled/\",110,went,\n"
		"count,0.02,2,2,PURR cycles,partition=3,entitled.entitled,\"gpci/entitled,field=entitled/\",9,ok,\n"
		"count,0.02,,20,PURR cycles,partition=5,entitled.entitled,\"gpci/entitled,field=entitled/\",90,went back,\n");
	assert_string_equal(buf_text(&f.notes),
			    "entitled: partition 3 is new; counted from now on\n"
			    "entitled: partition 2 went\n"
			    "entitled: entitled of partition 5 went back from 120 to 90; counted from now on\n");
	done(&f, p);
}

static void a_partition_that_comes_again_is_a_new_one(void **state)
{
	struct fake f = { .at = { { { 2, 100, 10 }, { 5, 1, 1 } },
				  { { 5, 2, 1 } },
				  { { 2, 1, 1 }, { 5, 3, 1 } },
				  { { 2, 4, 1 }, { 5, 4, 1 } } } };
	struct tally_platform *p = platform(&f);
	struct tally_stat_opts s = asking(&f, "gpci/entitled,partition=2,field=entitled/", 3);

	(void)state;
	assert_int_equal(tally_stat(p, &s, NULL), 0);
	assert_non_null(strstr(buf_text(&f.out), "count,0.03,3,3,"));
	assert_non_null(strstr(buf_text(&f.notes), "partition 2 went\n"));
	assert_non_null(strstr(buf_text(&f.notes), "partition 2 is new; counted from now on\n"));
	done(&f, p);
}

static void a_right_that_is_lost_is_a_row_with_the_reason(void **state)
{
	struct fake f = { .at = { { { 2, 100, 10 } } }, .code = H_HARDWARE };
	struct tally_platform *p = platform(&f);
	struct tally_stat_opts s = asking(&f, "gpci/entitled/,gpci/queuing_times/", 1);

	(void)state;
	assert_int_equal(tally_stat(p, &s, NULL), -TALLY_EIO); /* that is no matter of rights */
	done(&f, p);
	f = (struct fake){ .at = { { { 2, 100, 10 } }, { { 2, 101, 10 } } } };
	p = platform(&f);
	s = asking(&f, "gpci/entitled,field=entitled/,gpci/queuing_times/", 1);
	assert_int_equal(tally_stat(p, &s, NULL), 0);
	assert_non_null(strstr(buf_text(&f.out), ",1,1,PURR cycles,partition=2,"));
	assert_non_null(strstr(buf_text(&f.out), "count,0.01,,,,-,queuing_times,gpci/queuing_times/,,not supported,"));
	done(&f, p);
}

static void a_platform_that_goes_away_ends_it(void **state)
{
	struct fake f = { .at = { { { 2, 100, 10 } } }, .gone = true };
	struct tally_platform *p = platform(&f);
	struct tally_stat_opts s = asking(&f, "gpci/entitled/", 5);

	(void)state;
	assert_int_equal(tally_stat(p, &s, NULL), -TALLY_EEND);
	assert_string_equal(tally_platform_error(p), "the machine went away");
	done(&f, p);
}

static void stop_ends_it_with_a_last_table(void **state)
{
	volatile int stop = 1;
	struct fake f = { .at = { { { 2, 100, 10 } }, { { 2, 100, 10 } } } };
	struct tally_platform *p = platform(&f);
	struct tally_stat_opts s = asking(&f, "gpci/entitled/", 0);

	(void)state;
	s.stop = &stop;
	assert_int_equal(tally_stat(p, &s, NULL), 0);
	assert_int_equal(f.ns, 0);
	assert_int_equal(f.out.n, 0); /* nothing had passed */
	done(&f, p);
}

/* "count,TIME,MORE,ALL," of each row. */
static void assert_rows(const struct fake *f, const char *wanted)
{
	struct buf got = { 0 };

	for (const char *at = buf_text(&f->out); (at = strstr(at, "count,")); at++)
		buf_put(&got, at, strstr(at, "PURR") - at);
	buf_putc(&got, '\0');
	assert_string_equal(got.p, wanted);
	buf_free(&got);
}

static void a_stop_amid_an_interval_gives_a_row_of_what_had_passed(void **state)
{
	static const struct {
		uint64_t stop_ns;
		const char *out;
	} rows[] = {
		{ 400000000, "count,0.3,10,10,count,0.4,5,15," },
		{ 300000000, "count,0.3,10,10," }, /* none of no time */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fake f = { .at = { { { 2, 100, 1 } }, { { 2, 110, 1 } }, { { 2, 115, 1 } } },
				  .stop_ns = rows[i].stop_ns };
		struct tally_platform *p = platform(&f);
		struct tally_stat_opts s = asking(&f, "gpci/entitled,field=entitled/", 0);

		s.interval_ns = 300000000;
		s.duration_ns = 3000000000;
		s.stop = &f.stop;
		assert_int_equal(tally_stat(p, &s, NULL), 0);
		assert_int_equal(f.ns, rows[i].stop_ns);
		assert_rows(&f, rows[i].out);
		done(&f, p);
	}
}

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A model's time is passed; that of another process or machine has to come. */
static void a_machine_whose_time_nobody_passes_is_waited_for(void **state)
{
	struct fake f = { .at = { { { 2, 100, 1 } } } };
	struct tally_platform *p = platform(&f);
	struct tally_stat_opts s = asking(&f, "gpci/entitled,field=entitled/", 2);
	const uint64_t before = clock_ns();

	(void)state;
	f.op.advance = NULL;
	assert_int_equal(tally_stat(p, &s, NULL), 0);
	assert_true(clock_ns() - before >= 2 * s.interval_ns);
	assert_int_equal(f.readings, 3);
	done(&f, p);
}

static int take_progress(void *arg, uint64_t passed, uint64_t total)
{
	buf_printf(arg, "%llu of %llu\n", (unsigned long long)passed / 1000000, (unsigned long long)total / 1000000);
	return 0;
}

static void who_watches_is_told_how_far_an_interval_is(void **state)
{
	struct fake f = { .at = { { { 2, 100, 1 } }, { { 2, 110, 1 } }, { { 2, 115, 1 } } } };
	struct tally_platform *p = platform(&f);
	struct tally_stat_opts s = asking(&f, "gpci/entitled,field=entitled/", 2);
	struct buf told = { 0 };

	(void)state;
	s.progress = take_progress;
	s.arg = &told;
	assert_int_equal(tally_stat(p, &s, NULL), 0);
	buf_putc(&told, '\0');
	assert_string_equal(told.p, "5 of 10\n10 of 10\n5 of 10\n10 of 10\n");
	buf_free(&told);
	done(&f, p);
}

static void the_last_interval_ends_with_the_duration_and_there_is_none_of_no_time(void **state)
{
	static const struct {
		uint64_t duration;
		const char *out;
	} rows[] = {
		{ 10000000, "count,0.01,10,10," },
		{ 15000000, "count,0.01,10,10,count,0.015,5,15," },
		{ 20000000, "count,0.01,10,10,count,0.02,5,15," },
		{ 25000000, "count,0.01,10,10,count,0.02,5,15,count,0.025,1,16," },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fake f = {
			.at = { { { 2, 100, 1 } }, { { 2, 110, 1 } }, { { 2, 115, 1 } }, { { 2, 116, 1 } } }
		};
		struct tally_platform *p = platform(&f);
		struct tally_stat_opts s = asking(&f, "gpci/entitled,field=entitled/", 0);

		s.duration_ns = rows[i].duration;
		assert_int_equal(tally_stat(p, &s, NULL), 0);
		assert_int_equal(f.ns, rows[i].duration);
		assert_rows(&f, rows[i].out);
		done(&f, p);
	}
}

/* ---- views and records say the same ------------------------------------------------------------------- */

static double sum_of(const struct buf *csv, uint32_t column)
{
	const char *p = strchr(buf_text(csv), '\n');
	double sum = 0;

	while (p && p[1]) {
		const char *cell = ++p;

		for (uint32_t i = 0; i < column && cell; i++) {
			cell = strchr(cell, ',');
			cell = cell ? cell + 1 : NULL;
		}
		assert_non_null(cell);
		sum += strtod(cell, NULL);
		p = strchr(p, '\n');
	}
	return sum;
}

static double view(const char *on, const char *name, uint32_t column)
{
	struct fake f = { .ns = 0 };
	struct tally_platform *p = platform_open_noted(on, &f.notes);
	struct tally_stat_opts s = asking(&f, NULL, 1);
	double sum;

	s.view = name;
	s.interval_ns = 1000000000;
	if (tally_stat(p, &s, NULL) < 0)
		fail_msg("%s", tally_platform_error(p));
	sum = sum_of(&f.out, column);
	done(&f, p);
	return sum;
}

static void assert_near(double a, double b)
{
	if (a - b > 1e-6 || b - a > 1e-6)
		fail_msg("%.9f is not %.9f", a, b);
}

static void views_agree_with_each_other(void **state)
{
	static const char *const load[] = { "power,load=mixed", "power,load=contended", "power,load=donating",
					    "power,load=links,seed=9" };
	enum { CEC_BUSY = 8, CEC_ENT = 7, PART_ENT = 5, PART_PHYSC = 6, PROCESSOR_BUSY = 7 };

	(void)state;
	for (size_t i = 0; i < COUNT(load); i++) {
		double busy = view(load[i], "cec", CEC_BUSY);

		assert_true(busy > 0.5);
		assert_near(busy, view(load[i], "processors", PROCESSOR_BUSY));
		assert_near(busy, view(load[i], "partitions", PART_PHYSC));
		assert_near(view(load[i], "cec", CEC_ENT), view(load[i], "partitions", PART_ENT));
	}
}

static double record_sum(const char *on, const char *events)
{
	struct fake f = { .ns = 0 };
	struct tally_platform_opts o = { .size = sizeof(o), .on = on };
	struct tally_stat_opts s = asking(&f, events, 1);
	struct tally_platform *p;
	double sum;

	s.interval_ns = 1000000000;
	assert_int_equal(tally_platform_open(&p, &o), 0);
	assert_int_equal(tally_stat(p, &s, NULL), 0);
	sum = sum_of(&f.out, 2);
	done(&f, p);
	return sum;
}

static void views_agree_with_the_records(void **state)
{
	const char *on = "power,load=donating";

	(void)state;
	assert_near(view(on, "cec", 8), record_sum(on, "gpci/dispatch_purr/") / 512e6);
	assert_near(view(on, "partitions", 6),
		    record_sum(on, "gpci/entitled,field=capped/,gpci/entitled,field=uncapped/") / 512e6);
	assert_near(view(on, "partitions", 10), record_sum(on, "gpci/entitled,field=donated/") / 512e6);
}

static void the_last_row_of_partitions_is_of_all_of_them(void **state)
{
	enum { VPS, ENT, PHYSC, ENTC, CAP, UNCAP, DONATE, IDLE, CPI, NUMBERS };
	const char *on = "power,load=donating";
	struct fake f = { .ns = 0 };
	struct tally_platform *p = platform_open_noted(on, &f.notes);
	struct tally_stat_opts s = asking(&f, NULL, 1);
	double sum[NUMBERS] = { 0 }, all[NUMBERS], idle = 0;
	const char *line;
	uint32_t rows = 0;

	(void)state;
	s.view = "partitions";
	s.interval_ns = 1000000000;
	s.to.format = TALLY_FORMAT_TEXT;
	assert_int_equal(tally_stat(p, &s, NULL), 0);
	line = strstr(buf_text(&f.out), "\nPART");
	assert_non_null(line);
	for (line = strchr(line + 1, '\n') + 1; strncmp(line, " all ", 5); line = strchr(line, '\n') + 1) {
		double row[NUMBERS];

		assert_int_equal(line_numbers(line, 2, row, NUMBERS), NUMBERS);
		for (uint32_t i = 0; i < NUMBERS; i++)
			sum[i] += row[i];
		idle += row[IDLE] * row[PHYSC];
		rows++;
	}
	assert_int_equal(rows, 2);
	assert_int_equal(line_numbers(line, 1, all, NUMBERS), NUMBERS);
	for (uint32_t i = VPS; i <= DONATE; i++)
		if (i != ENTC && (all[i] - sum[i] > 0.011 || sum[i] - all[i] > 0.011 || sum[i] < 1))
			fail_msg("number %u: %.2f, not %.2f", i, all[i], sum[i]);
	assert_true(100 * sum[PHYSC] / sum[ENT] - all[ENTC] < 0.2 && all[ENTC] - 100 * sum[PHYSC] / sum[ENT] < 0.2);
	assert_true(idle / sum[PHYSC] - all[IDLE] < 0.2 && all[IDLE] - idle / sum[PHYSC] < 0.2);
	done(&f, p);
	all[CPI] -= record_sum(on, "gpci/run_instructions,field=cycles/") /
		    record_sum(on, "gpci/run_instructions,field=instructions/");
	assert_true(all[CPI] < 0.006 && all[CPI] > -0.006);
}

static void what_no_partition_tells_is_not_known_of_all(void **state)
{
	static const struct {
		const char *on, *starts;
	} rows[] = {
		{ "power,load=donating,firmware=0", "\n all            -" }, /* no request for virtual processors */
		{ "power,load=donating,rights=none", NULL },                 /* its own row alone: no sum of it */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fake f = { .ns = 0 };
		struct tally_platform *p = platform_open_noted(rows[i].on, &f.notes);
		struct tally_stat_opts s = asking(&f, NULL, 1);

		s.view = "partitions";
		s.interval_ns = 1000000000;
		s.to.format = TALLY_FORMAT_TEXT;
		assert_int_equal(tally_stat(p, &s, NULL), 0);
		assert_non_null(strstr(buf_text(&f.out), "\n   1 "));
		if (!strstr(buf_text(&f.out), rows[i].starts ? rows[i].starts : "\nPART") ||
		    (!rows[i].starts && strstr(buf_text(&f.out), " all ")))
			fail_msg("%s", buf_text(&f.out));
		done(&f, p);
	}
}

/* All chips have all links here, and all links one time: the sum of utilisations is chips - sum d(idle) / d(total). */
static void the_links_view_is_what_the_records_say(void **state)
{
	enum { A = 4, CHIPS = 16 };
	static const char links[] = "abcwxyz";
	const char *on = "power,load=links";

	(void)state;
	for (uint32_t i = 0; i < 7; i++) {
		const char *request = i < 3 ? "links_abc" : "links_wxyz";
		bool wired = links[i] != 'z'; /* four chips of a node need three */
		char idle[64], total[64];

		snprintf(idle, sizeof(idle), "gpci/%s,field=idle_%c/", request, links[i]);
		snprintf(total, sizeof(total), "gpci/%s,chip=0,field=total/", request);
		assert_near(view(on, "links", A + i), wired ? CHIPS - record_sum(on, idle) / record_sum(on, total) : 0);
		assert_true(!wired || view(on, "links", A + i) > 0.5);
	}
}

/* ---- the others -------------------------------------------------------------------------------------------- */

static void bad_events_are_refused_before_anything_runs(void **state)
{
	static const struct {
		int line;
		const char *on, *events, *words;
	} row[] = {
		{ __LINE__, "batoka", "", "-e is empty" },
		{ __LINE__, "batoka", "vfalls/zam0_lpu_a/", "event= is missing" },
		{ __LINE__, "batoka", "vfalls/zam0_lpu_e,event=none/", "did you mean 'zam0_lpu_" },
		{ __LINE__, "batoka", "vfalls/zam0_lpu_a,event=clock_cycle/", "did you mean 'clock_cycles'?" },
		{ __LINE__, "batoka", "vfalls/zam0_lpu_a,event=0x100/", "code out of range (0xff at most)" },
		{ __LINE__, "batoka", "vfalls/zam0_lpu_a,event=1,cpu=3/", "unknown key 'cpu'" },
		{ __LINE__, "batoka", "vfalls/sparc,cpu=256,event=IC_miss/", "the machine has 256" },
		{ __LINE__, "batoka", "vfalls/sparc,event=IC_miss,remote/",
		  "key remote applies only to events L2_imiss and L2_dmiss_ld" },
		{ __LINE__, "batoka", "vfalls/sparc,event=L2_imiss,remote,local/",
		  "local, remote and c2c cannot be combined" },
		{ __LINE__, "niagara", "mmustat/all,cpu=32/", "the machine has 32" },
		{ __LINE__, "power", "gpci/entitled/gpci/links_abc/", "without a comma" },
		{ __LINE__, "power", "gpci/dispatch_purr,processor=48/", "(valid: 0 to 47)" },
		{ __LINE__, "power", "gpci/entitled,vp=1/", "key vp= applies only to affinity_by_vp" },
		{ __LINE__, "power", "gpci/mmcrh/", "is write-only" },
		{ __LINE__, "power", "{gpci/entitled/}:u", "':u': a group takes no modifier" },
		{ __LINE__, "power", "{gpci/entitled/,{gpci/links_abc/}}", "groups cannot be nested" },
		{ __LINE__, "power", "{gpci/entitled/", "'{gpci/entitled/': } is missing" },
		{ __LINE__, "power", "gpci/entitled/}", "'}': } without a {" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct fake f = { .ns = 0 };
		struct tally_platform_opts o = { .size = sizeof(o), .on = row[i].on };
		struct tally_stat_opts s = asking(&f, row[i].events, 1);
		struct tally_platform *p;

		assert_int_equal(tally_platform_open(&p, &o), 0);
		if (tally_stat(p, &s, NULL) != -TALLY_EINVAL || !strstr(tally_platform_error(p), row[i].words) ||
		    f.out.n)
			fail_msg("line %d: %s: %s", row[i].line, row[i].events, tally_platform_error(p));
		done(&f, p);
	}
}

static void options_of_a_newer_caller_are_refused_and_nothing_runs(void **state)
{
	struct fake f = { .ns = 0 };
	struct tally_platform *p = platform(&f);
	struct {
		struct tally_stat_opts o;
		int more;
	} newer = { asking(&f, "gpci/entitled/", 1), 1 };
	char words[256];

	(void)state;
	newer.o.size = sizeof(newer);
	assert_int_equal(tally_stat(p, &newer.o, NULL), -TALLY_EINVAL);
	snprintf(words, sizeof(words), "%s", tally_platform_error(p));
	assert_int_equal(f.readings, 0);
	assert_int_equal(f.out.n, 0);
	assert_int_equal(tally_stat(p, &(struct tally_stat_opts){ .size = sizeof(struct tally_stat_opts) }, NULL),
			 -TALLY_EINVAL);
	assert_string_not_equal(tally_platform_error(p), words);
	done(&f, p);
}

static void what_goes_with_cpu_events_only_is_refused_without_one(void **state)
{
	static const int32_t one[] = { 1 };
	static char *const command[] = { "true", NULL };
	static const struct {
		int line;
		struct tally_stat_opts o;
		const char *words;
	} row[] = {
		{ __LINE__, { .events = NULL }, "nothing to count: no event and no view" },
		{ __LINE__,
		  { .events = "gpci/entitled/", .argv = command },
		  "a command, processes or CPUs are given, but no CPU event" },
		{ __LINE__,
		  { .events = "gpci/entitled/", .pids = one, .npids = 1 },
		  "a command, processes or CPUs are given, but no CPU event" },
		{ __LINE__,
		  { .events = "gpci/entitled/", .tids = one, .ntids = 1 },
		  "a command, processes or CPUs are given, but no CPU event" },
		{ __LINE__,
		  { .events = "gpci/entitled/", .cpus = "0" },
		  "a command, processes or CPUs are given, but no CPU event" },
		{ __LINE__,
		  { .events = "gpci/entitled/,page-faults:u", .argv = command, .repeat = 2 },
		  "-r requires that all events are CPU events" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct fake f = { .ns = 0 };
		struct tally_platform *p = platform(&f);
		struct tally_stat_opts o = row[i].o;
		int rc;

		o.size = sizeof(o);
		o.to = asking(&f, NULL, 1).to;
		rc = tally_stat(p, &o, NULL);
		if (rc != -TALLY_EINVAL || strcmp(tally_platform_error(p), row[i].words) != 0 || f.readings)
			fail_msg("row of line %d: %d, %s", row[i].line, rc, tally_platform_error(p));
		done(&f, p);
	}
}

static void check_says_each_invariant(void **state)
{
	struct fake f = { .ns = 0 };
	struct tally_platform_opts o = { .size = sizeof(o), .on = "power" };
	struct tally_check_result r = { .size = sizeof(r) };
	struct tally_check_opts c = {
		.size = sizeof(c),
		.what = "gpci",
		.to = { .size = sizeof(c.to), .out = buf_take, .arg = &f.out, .format = TALLY_FORMAT_JSON }
	};
	struct tally_platform *p;
	uint32_t n = 0;

	(void)state;
	while (gpci_invariant_at(n))
		n++;
	assert_int_equal(tally_platform_open(&p, &o), 0);
	assert_int_equal(tally_check(p, &c, &r), 0);
	assert_int_equal(r.holds, n);
	assert_int_equal(r.broken + r.unknown, 0);
	c.what = "vfalls";
	assert_int_equal(tally_check(p, &c, &r), -TALLY_ENOTSUP);
	done(&f, p);
}

static void a_broken_invariant_is_found(void **state)
{
	struct fake f = { .by_second = true, .at = { { { 0 } }, { { 2, 100, 10 } }, { { 2, 110, 5 } } } };
	struct tally_platform *p = platform(&f);
	struct tally_check_result r = { .size = sizeof(r) };
	struct tally_check_opts c = { .size = sizeof(c),
				      .what = "gpci",
				      .to = { .size = sizeof(c.to), .out = buf_take, .arg = &f.out } };

	(void)state;
	assert_int_equal(tally_check(p, &c, &r), 0);
	assert_true(r.broken > 0);
	assert_non_null(strstr(buf_text(&f.out), "12  BROKEN   counters only grow"));
	assert_non_null(strstr(buf_text(&f.notes), "record 2: capped went back by 5"));
	done(&f, p);
}

static void out_of_memory_is_an_error(void **state)
{
	static const struct {
		const char *events, *view;
		uint32_t form;
	} row[] = {
		{ "gpci/entitled/", NULL, TALLY_FORMAT_CSV },
		{ NULL, "partitions", TALLY_FORMAT_TEXT },
		{ NULL, "links", TALLY_FORMAT_JSON },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++)
		for (long n = 1;; n++) {
			struct tally_platform_opts o = { .size = sizeof(o), .on = "power,load=idle" };
			struct fake f = { .ns = 0 };
			struct tally_stat_opts s = asking(&f, row[i].events, 1);
			struct tally_platform *p;
			bool failed;
			int rc;

			s.view = row[i].view;
			s.to.out = NULL;
			s.to.format = row[i].form;
			assert_int_equal(tally_platform_open(&p, &o), 0);
			mem_fail_at(n);
			rc = tally_stat(p, &s, NULL);
			failed = mem_failed();
			mem_fail_at(0);
			if (failed)
				assert_int_equal(rc, -TALLY_ENOMEM);
			done(&f, p);
			if (!failed)
				break;
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_followed_by_id),
		cmocka_unit_test(a_partition_that_comes_again_is_a_new_one),
		cmocka_unit_test(a_right_that_is_lost_is_a_row_with_the_reason),
		cmocka_unit_test(a_platform_that_goes_away_ends_it),
		cmocka_unit_test(stop_ends_it_with_a_last_table),
		cmocka_unit_test(a_stop_amid_an_interval_gives_a_row_of_what_had_passed),
		cmocka_unit_test(a_machine_whose_time_nobody_passes_is_waited_for),
		cmocka_unit_test(who_watches_is_told_how_far_an_interval_is),
		cmocka_unit_test(the_last_interval_ends_with_the_duration_and_there_is_none_of_no_time),
		cmocka_unit_test(views_agree_with_each_other),
		cmocka_unit_test(views_agree_with_the_records),
		cmocka_unit_test(the_last_row_of_partitions_is_of_all_of_them),
		cmocka_unit_test(what_no_partition_tells_is_not_known_of_all),
		cmocka_unit_test(the_links_view_is_what_the_records_say),
		cmocka_unit_test(bad_events_are_refused_before_anything_runs),
		cmocka_unit_test(options_of_a_newer_caller_are_refused_and_nothing_runs),
		cmocka_unit_test(what_goes_with_cpu_events_only_is_refused_without_one),
		cmocka_unit_test(check_says_each_invariant),
		cmocka_unit_test(a_broken_invariant_is_found),
		cmocka_unit_test(out_of_memory_is_an_error),
	};

	return cmocka_run_group_tests_name("ask: stat", tests, NULL, NULL);
}
