/*
 * platform_test.c: what --on takes, and list, get and set over devices that do what a test says.
 */
#include "session/platform_test_int.h"

/* ---- what --on takes ------------------------------------------------------------------------- */

static void platforms_are_named_with_their_keys(void **state)
{
	struct plat_on on;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(plat_parse(&on, NULL, &e), 0);
	assert_string_equal(on.row->name, "local");
	assert_int_equal(plat_parse(&on, "kunpeng", &e), 0);
	assert_int_equal(on.kunpeng.seed, 0);
	assert_null(on.kunpeng.load);
	assert_int_equal(plat_parse(&on, "kunpeng,seed=7,load=mixed", &e), 0);
	assert_true(on.row->embedded);
	assert_int_equal(on.kunpeng.seed, 7);
	assert_string_equal(on.kunpeng.load, "mixed");
	assert_int_equal(plat_parse(&on, "batoka,sockets=3,strands=4,rights=global+htstrand,api=1.0,seed=9", &e), 0);
	assert_string_equal(on.row->name, "batoka");
	assert_int_equal(on.hv.sockets, 3);
	assert_int_equal(on.hv.strands, 4);
	assert_int_equal(on.hv.seed, 9);
	assert_true(on.hv.old_api && on.hv.rights_given && on.hv.sun4v.global && on.hv.sun4v.ht);
	assert_int_equal(plat_parse(&on, "power,firmware=8,rights=all+expanded,config=./m", &e), 0);
	assert_int_equal(on.hv.level, 8);
	assert_true(on.hv.papr.all && on.hv.papr.expanded && !on.hv.papr.lab);
	assert_string_equal(on.config, "./m");
	assert_int_equal(plat_parse(&on, "./reply", &e), 0);
	assert_string_equal(on.row->name, "file");
	assert_string_equal(on.path, "./reply");
	assert_int_equal(plat_parse(&on, "unix:/run/x,y", &e), 0);
	assert_string_equal(on.path, "/run/x,y");
}

static void keys_behind_a_socket_say_which_guest(void **state)
{
	static const struct { const char *on, *socket, *guest; uint32_t partition; } row[] = {
		{ "unix:/run/x,y", "/run/x,y", "", 0 },          { "unix:m,guest=web", "m", "web", 0 },
		{ "unix:a,b,partition=3", "a,b", "", 3 },        { "unix:m,partition=2,guest=web", "m", "web", 2 },
		{ "unix:m,colour=red", "m,colour=red", "", 0 },  { "unix:m,guest=web,", "m,guest=web,", "", 0 },
	};
	struct plat_on on;
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		assert_int_equal(plat_parse(&on, row[i].on, &e), 0);
		assert_string_equal(on.socket, row[i].socket);
		assert_string_equal(on.guest, row[i].guest);
		assert_int_equal(on.partition, row[i].partition);
	}
}

static void a_platform_that_is_not_there_is_refused_with_what_is_near(void **state)
{
	static const struct { int line; const char *on, *words; } row[] = {
		{ __LINE__, "kunpen", "did you mean 'kunpeng'?" },
		{ __LINE__, "Local", "did you mean 'local'?" },
		{ __LINE__, "unix", "did you mean 'unix:PATH'?" },
		{ __LINE__, "mars", "there are: local, kunpeng, niagara, maramba, batoka, power, unix:PATH, and files" },
		{ __LINE__, "batoca", "did you mean 'batoka'?" },
		{ __LINE__, "file", "there is no platform 'file'" },
		{ __LINE__, "batoka,sockets=5", "batoka has 1 to 4" },
		{ __LINE__, "batoka,api=2.0", "is 1.0 or 1.1" },
		{ __LINE__, "batoka,firmware=6", "its keys are: seed, load, sockets, strands, rights, api" },
		{ __LINE__, "niagara,strand=1", "did you mean 'strands'?" },
		{ __LINE__, "niagara,load=chased", "did you mean 'chase'?" },
		{ __LINE__, "batoka,rights=globl", "'globl' is none of" },
		{ __LINE__, "power,rights=all+global", "'global' is none of all, expanded, lab, none" },
		{ __LINE__, "power,firmware=7", "there are the levels 0, 3, 5, 6 and 8" },
		{ __LINE__, "power,load=idle,config=x", "leave out load= or config=" },
		{ __LINE__, "", "there is no platform ''" },
		{ __LINE__, "unix:", "needs the path of a socket" },
		{ __LINE__, "unix:m,guest=", "a guest's name has 1 to 15 characters" },
		{ __LINE__, "unix:m,guest=sixteen-letters--", "a guest's name has 1 to 15 characters" },
		{ __LINE__, "unix:m,partition=0", "a number from 1 up" },
		{ __LINE__, "local,seed=1", "local takes no keys: leave out ',seed=1'" },
		{ __LINE__, "kunpeng,sead=1", "no key 'sead'; did you mean 'seed'?" },
		{ __LINE__, "kunpeng,colour=1", "its keys are: seed, load" },
		{ __LINE__, "kunpeng,seed", "seed needs a value: seed=..." },
		{ __LINE__, "kunpeng,seed=", "seed needs a value: seed=..." },
		{ __LINE__, "kunpeng,seed=0", "a number from 1 up" },
		{ __LINE__, "kunpeng,seed=7x", "a number from 1 up" },
		{ __LINE__, "kunpeng,", "kunpeng has no key ''" },
		{ __LINE__, "kunpeng,load=mixd", "did you mean 'mixed'?" },
		{ __LINE__, "kunpeng,load=zzzzzz", "there are: " },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct plat_on on;
		struct err e = { 0 };

		if (plat_parse(&on, row[i].on, &e) != -TALLY_EINVAL || !strstr(e.text, row[i].words))
			fail_msg("line %d: '%s': %s", row[i].line, row[i].on, e.text);
	}
}

static void a_handle_that_failed_to_open_has_words(void **state)
{
	struct tally_platform_opts o = { .size = sizeof(o), .on = "mars" };
	struct { struct tally_platform_opts o; uint64_t newer; } longer = { .o = { .size = sizeof(longer) }, .newer = 1 };
	struct tally_platform *p = NULL;

	(void)state;
	assert_int_equal(tally_platform_open(&p, &o), -TALLY_EINVAL);
	said(p, "mars");
	tally_platform_close(p);
	assert_int_equal(tally_platform_open(&p, &longer.o), -TALLY_EINVAL);
	tally_platform_close(p);
	o = (struct tally_platform_opts){ .size = sizeof(o), .flags = 1 };
	assert_int_equal(tally_platform_open(&p, &o), -TALLY_EINVAL);
	tally_platform_close(p);
	o = (struct tally_platform_opts){ .size = sizeof(o), .profile = 3 };
	assert_int_equal(tally_platform_open(&p, &o), -TALLY_EINVAL);
	tally_platform_close(p);
	o = (struct tally_platform_opts){ .size = sizeof(o), .on = "unix:/no/such/socket" };
	assert_int_equal(tally_platform_open(&p, &o), -TALLY_EIO);
	said(p, "/no/such/socket");
	tally_platform_close(p);
	tally_platform_close(NULL);
}

static void a_machine_without_devices_is_told_of_the_model(void **state)
{
	struct fake *f = fake_new();
	struct tally_platform *p = platform(f, NULL, 0);
	struct tally_out to = text_to(f);

	(void)state;
	f->list_rc = -TALLY_ENOTSUP;
	assert_int_equal(tally_list(p, "ptt", NULL, false, &to), -TALLY_ENOTSUP);
	said(p, "'--on kunpeng' is a model that has some");
	assert_int_equal(tally_get(p, "hisi_ptt0_2", &to), -TALLY_ENOTSUP);
	said(p, "'--on kunpeng'");
	assert_int_equal(tally_set(p, "hisi_ptt0_2/qos_tx_p=1"), -TALLY_ENOTSUP);
	f->list_rc = 0;
	f->npmus = 0;
	assert_int_equal(tally_list(p, "ptt", NULL, false, &to), -TALLY_ENOTSUP);
	said(p, "there is no PTT device; '--on kunpeng'");
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
	to.form = TALLY_PTT_JSON;
	assert_int_equal(tally_list(p, "ptt", NULL, false, &to), 0);
	has(&f->out, "{\"type\":\"device\",\"device\":\"hisi_ptt0_0\",\"name\":\"hisi_ptt0_0\",\"value\":30,\"text\":\"CPUs 4-7\"}\n");
	has(&f->out, "{\"type\":\"requester\",\"device\":\"hisi_ptt0_2\",\"name\":\"0000:01:00.0\",\"value\":256,\"term\":\"filter=0x00100\"}\n");
	for (size_t i = 0; i < f->out.n; i++)
		json += f->out.p[i] == '\n';
	to = text_to(f);
	to.form = TALLY_PTT_CSV;
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
	f->list_rc = -TALLY_ENOTSUP;          /* it asks no hardware */
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
	to.form = TALLY_PTT_JSON;
	assert_int_equal(tally_get(p, "hisi_ptt0_2/qos_tx_cpl", &to), 0);
	has(&f->out, "{\"type\":\"tunable\",\"device\":\"hisi_ptt0_2\",\"name\":\"qos_tx_cpl\",\"value\":2,\"text\":\"weight");
	to = text_to(f);
	to.form = TALLY_PTT_CSV;
	assert_int_equal(tally_get(p, "hisi_ptt0_2/qos_tx_cpl", &to), 0);
	has(&f->out, "device,name,value,text\nhisi_ptt0_2,qos_tx_cpl,2,weight");
	tally_platform_close(p);
	fake_free(f);
}

static void a_selector_that_names_nothing_is_refused_with_what_is_near(void **state)
{
	static const struct { int line; const char *selector, *words; } row[] = {
		{ __LINE__, "hisi_ptt0_3/qos_tx_p", "no device 'hisi_ptt0_3'; did you mean 'hisi_ptt0_" },
		{ __LINE__, "eth0", "no device 'eth0'; 'tally list ptt' shows them" },
		{ __LINE__, "/qos_tx_p", "no device ''" },
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
	static const struct { int line; const char *assignment; int rc[2]; uint32_t now; } row[] = {   /* rc: spec, driver */
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
				fail_msg("line %d, profile %u: %d: %s", row[i].line, profile, rc, tally_platform_error(p));
		}
		assert_int_equal(f->value[0][PTT_TUNE_qos_tx_p], 1);
		has(&f->notes, "hisi_ptt0_2/qos_tx_p is 2: what is above 2 becomes 2\n");
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
	has(&f->notes, "kunpeng is a model in this process: what is set ends with it");
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
		cmocka_unit_test(platforms_are_named_with_their_keys),
		cmocka_unit_test(keys_behind_a_socket_say_which_guest),
		cmocka_unit_test(a_platform_that_is_not_there_is_refused_with_what_is_near),
		cmocka_unit_test(a_handle_that_failed_to_open_has_words),
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

	return cmocka_run_group_tests(tests, NULL, NULL);
}
