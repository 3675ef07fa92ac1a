/*
 * on_test.c: what --on takes.
 */
#include <stdlib.h>
#include <unistd.h>

#include "hv/gpci_guest.h"
#include "platform/fake_ptt_test.h"
#include "platform/transport.h"

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
	assert_true(on.row->is == PLAT_MODEL);
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
	assert_string_equal(on.hv.config_path, "./m");
	assert_int_equal(plat_parse(&on, "./reply", &e), 0);
	assert_string_equal(on.row->name, "file");
	assert_string_equal(on.path, "./reply");
	assert_int_equal(plat_parse(&on, "unix:/run/x,y", &e), 0);
	assert_string_equal(on.path, "/run/x,y");
}

static void keys_behind_a_socket_say_which_guest(void **state)
{
	static const struct {
		const char *on, *socket, *guest;
		uint32_t partition;
	} row[] = {
		{ "unix:/run/x,y", "/run/x,y", "", 0 },         { "unix:m,guest=web", "m", "web", 0 },
		{ "unix:a,b,partition=3", "a,b", "", 3 },       { "unix:m,partition=2,guest=web", "m", "web", 2 },
		{ "unix:m,colour=red", "m,colour=red", "", 0 }, { "unix:m,guest=web,", "m,guest=web,", "", 0 },
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
	static const struct {
		int line;
		const char *on, *words;
	} row[] = {
		{ __LINE__, "kunpen", "did you mean 'kunpeng'?" },
		{ __LINE__, "Local", "did you mean 'local'?" },
		{ __LINE__, "unix", "did you mean 'unix:PATH'?" },
		{ __LINE__, "mars", "(expected local, kunpeng, niagara, maramba, batoka, power, unix:PATH or a file" },
		{ __LINE__, "batoca", "did you mean 'batoka'?" },
		{ __LINE__, "file", "unknown platform 'file'" },
		{ __LINE__, "batoka,sockets=5", "batoka has 1 to 4" },
		{ __LINE__, "batoka,api=2.0", "1.0 or 1.1" },
		{ __LINE__, "batoka,firmware=6",
		  "(expected one of seed, load, sockets, strands, rights, profile, api" },
		{ __LINE__, "niagara,strand=1", "did you mean 'strands'?" },
		{ __LINE__, "niagara,load=chased", "did you mean 'chase'?" },
		{ __LINE__, "batoka,rights=globl", "invalid value 'globl'" },
		{ __LINE__, "power,rights=all+global", "invalid value 'global' (expected all, expanded, lab or none" },
		{ __LINE__, "power,firmware=7", "there are the levels 0, 3, 5, 6 and 8" },
		{ __LINE__, "niagara,profile=driver", "profile=driver: expected spec or opensparc" },
		{ __LINE__, "power,profile=opensparc", "power: unknown key 'profile' (expected one of seed, load" },
		{ __LINE__, "kunpeng,profile=driver", "who traces chooses the profile by --profile=NAME" },
		{ __LINE__, "power,load=idle,config=x", "load= and config= cannot be combined" },
		{ __LINE__, "", "unknown platform ''" },
		{ __LINE__, "unix:", "requires the path of a socket" },
		{ __LINE__, "unix:m,guest=", "expected a name of 1 to 15 characters" },
		{ __LINE__, "unix:m,guest=sixteen-letters--", "expected a name of 1 to 15 characters" },
		{ __LINE__, "unix:m,partition=0", "expected a number, 1 or more" },
		{ __LINE__, "local,seed=1", "local takes no keys: omit ',seed=1'" },
		{ __LINE__, "kunpeng,sead=1", "unknown key 'sead'; did you mean 'seed'?" },
		{ __LINE__, "kunpeng,colour=1", "(expected one of seed, load" },
		{ __LINE__, "kunpeng,seed", "seed requires a value: seed=..." },
		{ __LINE__, "kunpeng,seed=", "seed requires a value: seed=..." },
		{ __LINE__, "kunpeng,seed=0", "expected a number, 1 or more" },
		{ __LINE__, "kunpeng,seed=7x", "expected a number, 1 or more" },
		{ __LINE__, "kunpeng,", "kunpeng: unknown key ''" },
		{ __LINE__, "kunpeng,load=mixd", "did you mean 'mixed'?" },
		{ __LINE__, "kunpeng,load=zzzzzz", "(expected one of " },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct plat_on on;
		struct err e = { 0 };

		if (plat_parse(&on, row[i].on, &e) != -TALLY_EINVAL || !strstr(e.text, row[i].words))
			fail_msg("line %d: '%s': %s", row[i].line, row[i].on, e.text);
	}
}

static void profile_opensparc_behind_the_name_was_an_unknown_key(void **state)
{
	static const struct {
		int line;
		const char *on, *words; /* NULL: it opens */
		bool option, is;
	} row[] = {
		{ __LINE__, "niagara,profile=opensparc", NULL, false, true },
		{ __LINE__, "niagara,profile=opensparc", NULL, true, true },
		{ __LINE__, "batoka,sockets=2,profile=opensparc", NULL, false, true },
		{ __LINE__, "niagara,profile=spec", NULL, false, false },
		{ __LINE__, "niagara", NULL, true, true },
		{ __LINE__, "niagara", NULL, false, false },
		{ __LINE__, "niagara,profile=spec", "the profile is given twice: opensparc, and profile=spec", true,
		  false },
		{ __LINE__, "power", "profile opensparc requires a sun4v machine", true, false },
		{ __LINE__, "kunpeng", "profile opensparc requires a sun4v machine", true, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct tally_platform_opts o = { .size = sizeof(o),
						 .on = row[i].on,
						 .profile =
							 row[i].option ? TALLY_PROFILE_OPENSPARC : TALLY_PROFILE_SPEC };
		struct tally_platform *p = NULL;
		int rc = tally_platform_open(&p, &o);

		if (rc != (row[i].words ? -TALLY_EINVAL : 0) || p->on.hv.opensparc != row[i].is)
			fail_msg("line %d: %s: %d: %s", row[i].line, row[i].on, rc, tally_platform_error(p));
		if (row[i].words)
			said(p, row[i].words);
		tally_platform_close(p);
	}
}

static void a_handle_that_failed_to_open_has_words(void **state)
{
	struct tally_platform_opts o = { .size = sizeof(o), .on = "mars" };
	struct {
		struct tally_platform_opts o;
		uint64_t newer;
	} longer = { .o = { .size = sizeof(longer) }, .newer = 1 };
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

/* A reply to `entitled` of one partition, by hand. */
static const uint8_t reply[32 + 48] = {
	[3] = 0x20, [7] = 1, [0xb] = 1, [0x11] = 48, [0x12] = 6, [0x13] = 6, [0x27] = 2, [0x2f] = 100, [0x37] = 60
};

static void a_saved_reply_is_a_transport_and_a_file_that_is_none_is_refused(void **state)
{
	char path[] = "/tmp/tally-on.XXXXXX";
	struct tally_platform_opts o = { .size = sizeof(o), .on = path };
	struct hv_transport t = { 0 }, none = { 0 };
	struct tally_platform *p = NULL;
	struct gpci_table table;
	struct err e = { 0 };
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, reply, sizeof(reply)), sizeof(reply));
	close(fd);
	assert_int_equal(tally_platform_open(&p, &o), 0);
	assert_int_equal(p->on.row->is, PLAT_SAVED);
	assert_null(p->on.row->ptt);
	assert_int_equal(p->on.row->transport(p, &t, &e), 0);
	assert_non_null(t.op);
	assert_int_equal(gpci_read(&table, &t, gpci_request(0x20, 6, 6), 0, &e), 0);
	assert_int_equal(table.n, 1);
	assert_int_equal(table.v[0].id, 2);
	gpci_table_free(&table);
	transport_close(&t);

	unlink(path);
	assert_int_equal(p->on.row->transport(p, &none, &e), -TALLY_EIO);
	assert_non_null(strstr(e.text, path));
	assert_null(none.op);
	tally_platform_close(p);
	assert_int_equal(mem_live(), 0);
}

/* Each model has a hypervisor; a machine file is read and held against its grammar. */
static void a_machine_file_that_is_none_opens_no_model(void **state)
{
	static const char *const models[] = { "niagara", "maramba", "batoka", "power" };
	char path[] = "/tmp/tally-on.XXXXXX", on[64];
	struct tally_platform_opts o = { .size = sizeof(o) };
	struct tally_platform *p = NULL;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "nonsense\n", 9), 9);
	close(fd);
	for (size_t i = 0; i < COUNT(models); i++) {
		struct hv_transport t = { 0 };
		struct err e = { 0 };

		o.on = models[i];
		assert_int_equal(tally_platform_open(&p, &o), 0);
		assert_int_equal(p->on.row->transport(p, &t, &e), 0);
		assert_non_null(t.op);
		transport_close(&t);
		tally_platform_close(p);
	}
	snprintf(on, sizeof(on), "power,config=%s", path);
	o.on = on;
	for (int there = 1; there >= 0; there--) {
		struct hv_transport t = { 0 };
		struct err e = { 0 };

		assert_int_equal(tally_platform_open(&p, &o), 0);
		assert_int_equal(p->on.row->transport(p, &t, &e), there ? -TALLY_EINVAL : -TALLY_EIO);
		assert_non_null(strstr(e.text, there ? "nonsense" : path));
		assert_null(t.op);
		tally_platform_close(p);
		unlink(path);
	}
	assert_int_equal(mem_live(), 0);
}

/* Neither kernel's way to a hypervisor is here: both reasons are told. */
static void this_machine_without_a_hypervisor_says_what_is_missing(void **state)
{
	struct tally_platform_opts o = { .size = sizeof(o), .sysfs = "test/sysfs/none" };
	struct tally_platform *p = NULL;
	struct hv_transport t = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(tally_platform_open(&p, &o), 0);
	assert_int_equal(p->on.row->transport(p, &t, &e), -TALLY_ENOTSUP);
	assert_non_null(strstr(e.text, "; and "));
	assert_null(t.op);
	tally_platform_close(p);
}

static void rows_end_and_each_has_something_to_read(void **state)
{
	uint32_t n = 0;

	(void)state;
	for (const struct plat_row *row; (row = plat_row(n)); n++) {
		assert_true(row->ptt || row->transport);
		assert_true(*row->name && *row->text);
		assert_int_equal(row->is == PLAT_MODEL, row->keys != 0);
		assert_int_equal(plat_key(row, 0) != NULL, row->keys != 0);
	}
	assert_int_equal(n, 8);
	assert_null(plat_row(n + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(platforms_are_named_with_their_keys),
		cmocka_unit_test(keys_behind_a_socket_say_which_guest),
		cmocka_unit_test(a_platform_that_is_not_there_is_refused_with_what_is_near),
		cmocka_unit_test(profile_opensparc_behind_the_name_was_an_unknown_key),
		cmocka_unit_test(a_handle_that_failed_to_open_has_words),
		cmocka_unit_test(a_saved_reply_is_a_transport_and_a_file_that_is_none_is_refused),
		cmocka_unit_test(a_machine_file_that_is_none_opens_no_model),
		cmocka_unit_test(this_machine_without_a_hypervisor_says_what_is_missing),
		cmocka_unit_test(rows_end_and_each_has_something_to_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
