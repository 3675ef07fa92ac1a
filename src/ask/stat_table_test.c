/* stat_table_test.c: the columns that a table of counts shows, and what it hands to whoever takes its rows. */
#include "ask/stat_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const struct stat_figure count_figure = { .delta = AN_U(1),
						 .value = AN_U(2),
						 .raw = AN_U(3),
						 .unit = "events",
						 .id = "all",
						 .name = "n",
						 .status = "ok",
						 .why = "",
						 .share = AN_NONE,
						 .spread = AN_NONE,
						 .metric = AN_NONE };

/* A table of one row. */
static const char *table_show(struct buf *b, enum stat_kind kind, bool cpu, const struct stat_figure *f, uint32_t form)
{
	struct stat_table t = { .kind = kind };
	struct an_emit e;

	buf_clear(b);
	assert_int_equal(an_emit_open(&e, b, &(struct an_how){ .format = form }), 0);
	stat_table_open(&t, cpu);
	stat_table_row(&t, 0.5, "s", f);
	stat_table_put(&t, &e, true);
	stat_table_close(&t);
	an_emit_close(&e);
	assert_false(b->failed);
	return b->p;
}

static void programs_have_four_columns_more_for_cpu_events(void **state)
{
	struct stat_figure f = count_figure;
	struct buf b = { 0 };

	(void)state;
	assert_string_equal(table_show(&b, STAT_ONLY, false, &f, TALLY_FORMAT_CSV),
			    "type,time,delta,value,unit,id,name,selector,raw,status,why\n"
			    "count,0.5,1,2,events,all,n,s,3,ok,\n");
	f.cpu = true;
	f.share = AN_D(0.25);
	f.spread = AN_D(0.5);
	f.metric = AN_D(1.5);
	f.metric_unit = "GHz";
	assert_string_equal(
		table_show(&b, STAT_ONLY, true, &f, TALLY_FORMAT_CSV),
		"type,time,delta,value,unit,id,name,selector,raw,status,why,share,spread,metric,metric_unit\n"
		"count,0.5,1,2,events,all,n,s,3,ok,,0.25,0.5,1.5,GHz\n");
	f.cpu = false; /* a hypervisor's counter among them has none of these */
	assert_non_null(strstr(table_show(&b, STAT_ONLY, true, &f, TALLY_FORMAT_CSV),
			       "\ncount,0.5,1,2,events,all,n,s,3,ok,,,,,\n"));
	buf_free(&b);
}

static void people_see_the_columns_that_a_row_has_something_for(void **state)
{
	struct stat_figure f = count_figure;
	struct buf b = { 0 };

	(void)state;
	assert_string_equal(table_show(&b, STAT_ONLY, false, &f, TALLY_FORMAT_TEXT),
			    " TIME  DELTA  SINCE START  UNIT    ID   NAME\n"
			    "0.500      1            2  events  all  n\n");
	f.cpu = true;
	assert_string_equal(table_show(&b, STAT_ONLY, true, &f, TALLY_FORMAT_TEXT), "COUNT  UNIT    NAME\n"
										    "    2  events  n\n");
	assert_string_equal(table_show(&b, STAT_SUMMARY, true, &f, TALLY_FORMAT_TEXT), "COUNT  UNIT    NAME\n"
										       "    2  events  n\n");
	assert_string_equal(table_show(&b, STAT_INTERVAL, true, &f, TALLY_FORMAT_TEXT), " TIME  DELTA  UNIT    NAME\n"
											"0.500      1  events  n\n");
	f.id = "-";
	assert_string_equal(table_show(&b, STAT_ONLY, true, &f, TALLY_FORMAT_TEXT), "COUNT  UNIT    NAME\n"
										    "    2  events  n\n");
	f.id = "cpu=1";
	assert_string_equal(table_show(&b, STAT_ONLY, true, &f, TALLY_FORMAT_TEXT), "COUNT  UNIT    ID     NAME\n"
										    "    2  events  cpu=1  n\n");
	f.id = "all";
	f.spread = AN_D(0.5);
	assert_string_equal(table_show(&b, STAT_ONLY, true, &f, TALLY_FORMAT_TEXT), "COUNT  UNIT    NAME  SPREAD\n"
										    "    2  events  n     50.0 %\n");
	f.spread = AN_NONE;
	f.share = AN_D(0.9996);
	assert_string_equal(table_show(&b, STAT_ONLY, true, &f, TALLY_FORMAT_TEXT), "COUNT  UNIT    NAME\n"
										    "    2  events  n\n");
	f.share = AN_D(0.9994); /* which is not all of the time */
	assert_string_equal(table_show(&b, STAT_ONLY, true, &f, TALLY_FORMAT_TEXT), "COUNT  UNIT    NAME  COUNTED\n"
										    "    2  events  n      99.9 %\n");
	f = count_figure;
	f.unit_brief = "ev";
	f.why = "a reason";
	assert_non_null(strstr(table_show(&b, STAT_ONLY, false, &f, TALLY_FORMAT_TEXT), "ev    all  n     a reason\n"));
	f.note = "<short>";
	assert_non_null(strstr(table_show(&b, STAT_ONLY, false, &f, TALLY_FORMAT_TEXT), "ev    all  n     <short>\n"));
	assert_non_null(
		strstr(table_show(&b, STAT_ONLY, false, &f, TALLY_FORMAT_CSV), ",events,all,n,s,3,ok,a reason\n"));
	buf_free(&b);
}

/* ---- rows that somebody takes ------------------------------------------------------------------------ */

struct taken {
	struct buf b;
	uint32_t n;
	int rc; /* to return */
};

static int figure_take(void *arg, const struct watch_figure *f)
{
	struct taken *to = arg;

	to->n++;
	buf_printf(&to->b, "%s:", f->family);
	for (uint32_t i = 0; i < f->nlabels; i++)
		buf_printf(&to->b, " %s=%s", f->label[i].name, f->label[i].value);
	buf_printf(&to->b, " %llu\n", (unsigned long long)f->value.u);
	return to->rc;
}

static void who_takes_rows_is_told_whose_they_are(void **state)
{
	struct taken to = { .n = 0 };
	struct stat_table t = { .take = figure_take, .arg = &to };
	struct stat_figure f = count_figure;
	char id[48];

	(void)state;
	stat_table_open(&t, false);
	f.family = "x";
	stat_table_row(&t, 0, "s", &f);
	f.id = "-";
	stat_table_row(&t, 0, "s", &f);
	f.id = "partition=2.1";
	f.reg = "zam0_gpd";
	stat_table_row(&t, 0, "s", &f);
	f.reg = NULL;
	memset(id, 'k', sizeof(id));
	strcpy(id + 31, "=1");
	f.id = id;
	stat_table_row(&t, 0, "s", &f);
	strcpy(id + 31, "k=1"); /* a name that no label has room for */
	stat_table_row(&t, 0, "s", &f);
	assert_string_equal(to.b.p, "x: 2\n"
				    "x: 2\n"
				    "x: register=zam0_gpd partition=2.1 2\n"
				    "x: kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk=1 2\n"
				    "x: 2\n");
	assert_int_equal(t.rc, 0);
	to.rc = -TALLY_EIO;
	stat_table_row(&t, 0, "s", &f);
	assert_int_equal(t.rc, -TALLY_EIO);
	to.rc = 0;
	stat_table_row(&t, 0, "s", &f); /* nobody is asked again */
	assert_int_equal(t.rc, -TALLY_EIO);
	assert_int_equal(to.n, 6);
	assert_int_equal(t.t.n, 0);
	buf_free(&to.b);
	stat_table_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_have_four_columns_more_for_cpu_events),
		cmocka_unit_test(people_see_the_columns_that_a_row_has_something_for),
		cmocka_unit_test(who_takes_rows_is_told_whose_they_are),
	};

	return cmocka_run_group_tests_name("ask: table of counts", tests, NULL, NULL);
}
