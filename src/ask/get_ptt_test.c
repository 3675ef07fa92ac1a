/*
 * get_ptt_test.c: list, get and set over devices that do what a test says.
 */
#include "platform/fake_ptt_test.h"

/* ---- a platform without devices --------------------------------------------------------------- */

static void a_machine_without_devices_is_told_of_the_model(void **state)
{
	struct fake *f = fake_new();
	struct tally_platform *p = platform(f, NULL, 0);
	struct tally_out to = text_to(f);

	(void)state;
	f->list_rc = -TALLY_ENOTSUP;
	assert_int_equal(tally_list(p, "ptt", NULL, false, &to), -TALLY_ENOTSUP);
	said(p, "the model '--on kunpeng' has some");
	assert_int_equal(tally_get(p, "hisi_ptt0_2", &to), -TALLY_ENOTSUP);
	said(p, "'--on kunpeng'");
	assert_int_equal(tally_set(p, "hisi_ptt0_2/qos_tx_p=1"), -TALLY_ENOTSUP);
	f->list_rc = 0;
	f->npmus = 0;
	assert_int_equal(tally_list(p, "ptt", NULL, false, &to), -TALLY_ENOTSUP);
	said(p, "no PTT device; the model '--on kunpeng'");
	f->list_rc = -TALLY_EPERM;
	assert_int_equal(tally_list(p, "ptt", NULL, false, &to), -TALLY_EPERM);
	tally_platform_close(p);
	assert_true(f->closed);
	fake_free(f);
}

/* ---- list -------------------------------------------------------------------------------------- */

static void list_has_devices_filters_tunables_and_what_an_event_takes(void **state)
{
	struct fake *f = fake_new();
	struct tally_platform *p = platform(f, NULL, 0);
	struct tally_out to = text_to(f);

	(void)state;
	f->value[1][PTT_TUNE_qos_tx_p] = 2;
	assert_int_equal(tally_list(p, "ptt", NULL, false, &to), 0);
	has(&f->out, "hisi_ptt0_0: CPUs 4-7\n");
	has(&f->out, "    0000:00:10.0 filter=0x80001\n");
	has(&f->out, "    0000:01:00.0 filter=0x00100\n");
	has(&f->out, "    qos_tx_p=2                  weight");
	has(&f->out, "type=4");
	has(&f->out, "direction=3");
	has(&f->out, "format=1");
	has_not(&f->out, "0x50004");
	to = text_to(f);
	assert_int_equal(tally_list(p, "ptt", NULL, true, &to), 0);
	has(&f->out, "hisi_ptt0_0: CPUs 4-7, perf's type 30\n");
	has(&f->out, "code 0x50004\n");
	has(&f->out, "tx_path_tx_req_alloc_buf_level\n");
	tally_platform_close(p);
	fake_free(f);
}

static void list_in_three_forms_has_the_same_rows(void **state)
{
	struct fake *f = fake_new();
	struct tally_platform *p = platform(f, NULL, 0);
	struct tally_out to = text_to(f);
	size_t json = 0, csv = 0;

	(void)state;
	to.format = TALLY_FORMAT_JSON;
	assert_int_equal(tally_list(p, "ptt", NULL, false, &to), 0);
	has(&f->out,
	    "{\"type\":\"device\",\"device\":\"hisi_ptt0_0\",\"name\":\"hisi_ptt0_0\",\"value\":30,\"text\":\"CPUs 4-7\"}\n");
	has(&f->out,
	    "{\"type\":\"requester\",\"device\":\"hisi_ptt0_2\",\"name\":\"0000:01:00.0\",\"value\":256,\"term\":\"filter=0x00100\"}\n");
	for (size_t i = 0; i < f->out.n; i++)
		json += f->out.p[i] == '\n';
	to = text_to(f);
	to.format = TALLY_FORMAT_CSV;
	to.separator = ';';
	assert_int_equal(tally_list(p, "ptt", NULL, false, &to), 0);
	assert_int_equal(strncmp(f->out.p, "type;device;name;term;text;value\n", 33), 0);
	has(&f->out, "root_port;hisi_ptt0_0;0000:00:11.0;filter=0x80004;;524292\n");
	for (size_t i = 0; i < f->out.n; i++)
		csv += f->out.p[i] == '\n';
	assert_int_equal(csv, json + 1);
	tally_platform_close(p);
	fake_free(f);
}

static void list_with_a_pattern_has_what_matches(void **state)
{
	struct fake *f = fake_new();
	struct tally_platform *p = platform(f, NULL, 0);
	struct tally_out to = text_to(f);

	(void)state;
	assert_int_equal(tally_list(p, "ptt", "0000:01:*", false, &to), 0);
	has(&f->out, "filter=0x00100");
	has_not(&f->out, "qos_tx_p");
	has_not(&f->out, "0x80001");
	to = text_to(f);
	assert_int_equal(tally_list(p, "ptt", "hisi_ptt0_2", false, &to), 0);
	has(&f->out, "qos_tx_p=1");
	has_not(&f->out, "hisi_ptt0_0");
	assert_int_equal(tally_list(p, "ptt", "nothing", false, &to), -TALLY_EINVAL);
	said(p, "matches 'nothing'");
	tally_platform_close(p);
	fake_free(f);
}

static void list_alone_names_the_kinds(void **state)
{
	struct fake *f = fake_new();
	struct tally_platform *p = platform(f, NULL, 0);
	struct tally_out to = text_to(f);

	(void)state;
	f->list_rc = -TALLY_ENOTSUP; /* it asks no hardware */
	assert_int_equal(tally_list(p, NULL, NULL, false, &to), 0);
	has(&f->out, "ptt ");
	assert_int_equal(tally_list(p, "ptts", NULL, false, &to), -TALLY_EINVAL);
	said(p, "did you mean 'ptt'?");
	assert_int_equal(tally_list(p, "zebras", NULL, false, &to), -TALLY_EINVAL);
	said(p, "zebras");
	tally_platform_close(p);
	fake_free(f);
}

static void list_says_once_why_values_are_missing(void **state)
{
	struct fake *f = fake_new();
	struct tally_platform *p = platform(f, NULL, 0);
	struct tally_out to = text_to(f);

	(void)state;
	f->get_rc = -TALLY_EPERM;
	assert_int_equal(tally_list(p, "ptt", NULL, false, &to), 0);
	has(&f->out, "    qos_tx_p=?                 ");
	assert_string_equal(f->notes.p, "hisi_ptt0_0/qos_tx_cpl: may not be read\n");
	tally_platform_close(p);
	fake_free(f);
}

/* ---- get and set ------------------------------------------------------------------------------------ */

static void get_prints_what_set_takes(void **state)
{
	struct fake *f = fake_new();
	struct tally_platform *p = platform(f, NULL, 0);
	struct tally_out to = text_to(f);

	(void)state;
	f->value[1][PTT_TUNE_qos_tx_cpl] = 2;
	assert_int_equal(tally_get(p, "hisi_ptt0_2/qos_tx_cpl", &to), 0);
	assert_string_equal(f->out.p, "hisi_ptt0_2/qos_tx_cpl=2\n");
	to = text_to(f);
	assert_int_equal(tally_get(p, "hisi_ptt0_2/tx_path_rx_req_alloc_buf_level/ hisi_ptt0_0/qos_tx_p", &to), 0);
	assert_string_equal(f->out.p, "hisi_ptt0_2/rx_alloc_buf_level=0\nhisi_ptt0_0/qos_tx_p=1\n");
	to = text_to(f);
	assert_int_equal(tally_get(p, "hisi_ptt0_2/", &to), 0);
	has(&f->out, "hisi_ptt0_2/qos_tx_cpl=2\nhisi_ptt0_2/qos_tx_np=1\n");
	has(&f->out, "hisi_ptt0_2/tx_alloc_buf_level=2\n");
	to = text_to(f);
	to.format = TALLY_FORMAT_JSON;
	assert_int_equal(tally_get(p, "hisi_ptt0_2/qos_tx_cpl", &to), 0);
	has(&f->out,
	    "{\"type\":\"tunable\",\"device\":\"hisi_ptt0_2\",\"name\":\"qos_tx_cpl\",\"value\":2,\"text\":\"weight");
	to = text_to(f);
	to.format = TALLY_FORMAT_CSV;
	assert_int_equal(tally_get(p, "hisi_ptt0_2/qos_tx_cpl", &to), 0);
	has(&f->out, "device,name,value,text\nhisi_ptt0_2,qos_tx_cpl,2,weight");
	tally_platform_close(p);
	fake_free(f);
}

static void a_selector_that_names_nothing_is_refused_with_what_is_near(void **state)
{
	static const struct {
		int line;
		const char *selector, *words;
	} row[] = {
		{ __LINE__, "hisi_ptt0_3/qos_tx_p", "unknown device 'hisi_ptt0_3'; did you mean 'hisi_ptt0_" },
		{ __LINE__, "eth0", "unknown device 'eth0'; 'tally list ptt' shows them" },
		{ __LINE__, "/qos_tx_p", "unknown device ''" },
		{ __LINE__, "hisi_ptt0_2/qos_tx_dp", "qos_tx_p" },
		{ __LINE__, "hisi_ptt0_2/qos_tx_p/x", "qos_tx_p/x" },
		{ __LINE__, "hisi_ptt0_2//", "" },
	};
	struct fake *f = fake_new();
	struct tally_platform *p = platform(f, NULL, 0);
	struct tally_out to = text_to(f);

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++)
		if (tally_get(p, row[i].selector, &to) != -TALLY_EINVAL || !*tally_platform_error(p) ||
		    !strstr(tally_platform_error(p), row[i].words))
			fail_msg("line %d: %s", row[i].line, tally_platform_error(p));
	assert_int_equal(f->out.n, 0);
	f->get_rc = -TALLY_EPERM;
	assert_int_equal(tally_get(p, "hisi_ptt0_2/qos_tx_p", &to), -TALLY_EPERM);
	said(p, "hisi_ptt0_2/qos_tx_p: may not be read");
	tally_platform_close(p);
	fake_free(f);
}

static void set_takes_values_as_the_specification_says(void **state)
{
	static const struct {
		int line;
		const char *assignment;
		int rc[2];
		uint32_t now;
	} row[] = {
		/* rc: spec, driver */
		{ __LINE__, "hisi_ptt0_2/qos_tx_p=0", { 0, 0 }, 0 },
		{ __LINE__, "hisi_ptt0_2/qos_tx_p=2", { 0, 0 }, 2 },
		{ __LINE__, "hisi_ptt0_2/qos_tx_p/=1", { 0, 0 }, 1 },
		{ __LINE__, "hisi_ptt0_2/qos_tx_p=1/", { 0, 0 }, 1 },
		{ __LINE__, "hisi_ptt0_2/qos_tx_p=3", { 0, 0 }, 2 },
		{ __LINE__, "hisi_ptt0_2/qos_tx_p=65535", { 0, 0 }, 2 },
		{ __LINE__, "hisi_ptt0_2/qos_tx_p=65536", { 0, -TALLY_EINVAL }, 2 },
		{ __LINE__, "hisi_ptt0_2/qos_tx_p=-1", { -TALLY_EINVAL, -TALLY_EINVAL }, 1 },
		{ __LINE__, "hisi_ptt0_2/qos_tx_p=", { -TALLY_EINVAL, -TALLY_EINVAL }, 1 },
		{ __LINE__, "hisi_ptt0_2/qos_tx_p=/", { -TALLY_EINVAL, -TALLY_EINVAL }, 1 },
		{ __LINE__, "hisi_ptt0_2/qos_tx_p=two", { -TALLY_EINVAL, -TALLY_EINVAL }, 1 },
		{ __LINE__, "hisi_ptt0_2/qos_tx_p", { -TALLY_EINVAL, -TALLY_EINVAL }, 1 },
		{ __LINE__, "hisi_ptt0_2=1", { -TALLY_EINVAL, -TALLY_EINVAL }, 1 },
		{ __LINE__, "hisi_ptt0_2/qos_tx_dp=1", { -TALLY_EINVAL, -TALLY_EINVAL }, 1 },
		{ __LINE__, "=1", { -TALLY_EINVAL, -TALLY_EINVAL }, 1 },
	};

	(void)state;
	for (uint32_t profile = 0; profile < 2; profile++) {
		struct fake *f = fake_new();
		struct tally_platform *p = platform(f, NULL, profile);

		for (size_t i = 0; i < COUNT(row); i++) {
			f->value[1][PTT_TUNE_qos_tx_p] = 1;
			int rc = tally_set(p, row[i].assignment);
			uint32_t want = rc < 0 ? 1 : row[i].now;

			if (rc != row[i].rc[profile] || f->value[1][PTT_TUNE_qos_tx_p] != want ||
			    (rc < 0 && !*tally_platform_error(p)))
				fail_msg("line %d, profile %u: %d: %s", row[i].line, profile, rc,
					 tally_platform_error(p));
		}
		assert_int_equal(f->value[0][PTT_TUNE_qos_tx_p], 1);
		has(&f->notes, "hisi_ptt0_2/qos_tx_p is now 2: values above 2 become 2\n");
		tally_platform_close(p);
		fake_free(f);
	}
}

static void set_says_when_a_value_will_not_last(void **state)
{
	struct fake *f = fake_new();
	struct tally_platform *p = platform(f, "kunpeng", 0);

	(void)state;
	assert_int_equal(tally_set(p, "hisi_ptt0_2/qos_tx_p=2"), 0);
	has(&f->notes, "kunpeng is a model inside this process: settings are lost when it exits");
	f->get_rc = -TALLY_EBUSY;
	assert_int_equal(tally_set(p, "hisi_ptt0_2/qos_tx_p=2"), -TALLY_EBUSY);
	tally_platform_close(p);
	fake_free(f);
}

static void output_that_is_not_taken_is_an_error(void **state)
{
	struct fake *f = fake_new();
	struct tally_platform *p = platform(f, NULL, 0);
	struct tally_out to = text_to(f);

	(void)state;
	to.out = refuse;
	assert_int_equal(tally_get(p, "hisi_ptt0_2", &to), -TALLY_EIO);
	assert_int_equal(tally_list(p, "ptt", NULL, false, &to), -TALLY_EIO);
	to.size = 0;
	assert_int_equal(tally_list(p, "ptt", NULL, false, &to), -TALLY_EINVAL);
	tally_platform_close(p);
	fake_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_without_devices_is_told_of_the_model),
		cmocka_unit_test(list_has_devices_filters_tunables_and_what_an_event_takes),
		cmocka_unit_test(list_in_three_forms_has_the_same_rows),
		cmocka_unit_test(list_with_a_pattern_has_what_matches),
		cmocka_unit_test(list_alone_names_the_kinds),
		cmocka_unit_test(list_says_once_why_values_are_missing),
		cmocka_unit_test(get_prints_what_set_takes),
		cmocka_unit_test(a_selector_that_names_nothing_is_refused_with_what_is_near),
		cmocka_unit_test(set_takes_values_as_the_specification_says),
		cmocka_unit_test(set_says_when_a_value_will_not_last),
		cmocka_unit_test(output_that_is_not_taken_is_an_error),
	};

	return cmocka_run_group_tests_name("ask: get, ptt", tests, NULL, NULL);
}
