/* web_test.c: a file of TLS and users is read as YAML 1.2 has it, or refused with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "serve/web_int.h"

#define TLS "tls_server_config:\n"
#define USERS "basic_auth_users:\n"
#define MD5 "$1$x$aaaaaaaaaaaaaaaaaaaaaa"
/* Of "secret", with the least cost that there is. */
#define HASH "$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"

static void scalars_are_what_yaml_makes_of_them(void **state)
{
	static const struct {
		const char *written, *read;
	} scalars[] = {
		{ "a.crt", "a.crt" },
		{ "a.crt \t", "a.crt" },
		{ "a.crt\r", "a.crt" },
		{ "a.crt # a remark", "a.crt" },
		{ "a.crt\t# a remark", "a.crt" },
		{ "a#1.crt", "a#1.crt" },
		{ "a#1.crt #2", "a#1.crt" },
		{ "a b.crt", "a b.crt" },
		{ "   a.crt", "a.crt" },
		{ "b", "b" },
		{ "\"a # b.crt\"", "a # b.crt" },
		{ "'a.crt' # a remark", "a.crt" },
		{ "'a\"b'", "a\"b" },
		{ "C:a.crt", "C:a.crt" }, /* no blank behind that colon */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(scalars); i++) {
		struct web w = { 0 };
		struct err e = { 0 };
		char text[256];

		snprintf(text, sizeof(text), TLS "  cert_file: %s\n  key_file: k\n", scalars[i].written);
		if (web_parse(&w, text, strlen(text), &e))
			fail_msg("%s: %s", scalars[i].written, e.text);
		assert_string_equal(w.cert_file, scalars[i].read);
		assert_string_equal(w.key_file, "k");
		web_close(&w);
	}
	assert_int_equal(mem_live(), 0);
}

static void what_is_no_such_file_is_refused_with_its_line(void **state)
{
	static const struct {
		const char *text, *why;
	} files[] = {
		{ TLS "  cert_file: 'a\n", "line 2: no key with a value in one line (expected KEY: VALUE)" },
		{ TLS "  cert_file: 'a'b\n", "line 2: no key with a value in one line (expected KEY: VALUE)" },
		{ TLS "  cert_file: \"a\\\"\n", "line 2: no key with a value in one line (expected KEY: VALUE)" },
		{ TLS "  cert_file: # nothing\n", "line 2: no key with a value in one line (expected KEY: VALUE)" },
		{ TLS "  cert_file:\n", "line 2: no key with a value in one line (expected KEY: VALUE)" },
		{ TLS "  cert_file: [a]\n", "line 2: no key with a value in one line (expected KEY: VALUE)" },
		{ TLS "\n  # a remark\n  cert_file:a\n", "line 4: no blank behind the colon" },
		{ TLS "\tcert_file: a\n", "line 2: a tab or a zero byte (YAML indents with blanks)" },
		{ TLS "  cert_file\n", "line 2: no colon (expected KEY: VALUE)" },
		{ TLS "  cert_file: a\n  cert_file: b\n", "line 3: the file is given twice" },
		{ TLS "  cert_file: a\n", "tls_server_config has no key_file" },
		{ TLS "  key_file: a\n", "tls_server_config has no cert_file" },
		{ TLS "  min_version: TLS13\n",
		  "line 2: unknown key 'min_version' of tls_server_config (expected cert_file or key_file)" },
		{ TLS USERS TLS, "line 3: the section is there twice" },
		{ "tls_server: \n",
		  "line 1: unknown section 'tls_server' (expected tls_server_config: or basic_auth_users:)" },
		{ "tls_server_config: a\n", "line 1: a section's keys stand in lines of their own" },
		{ "---\n  cert_file: a\n",
		  "line 2: it belongs to no section (expected tls_server_config: or basic_auth_users:)" },
		{ USERS "  a: " MD5 "\n  a: " MD5 "\n", "line 3: the user is there twice" },
		{ USERS "  a: secret", "line 2: no hash of a password (expected $2y$..., as htpasswd -nB makes it)" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(files); i++) {
		struct web w = { 0 };
		struct err e = { 0 };

		assert_int_equal(web_parse(&w, files[i].text, strlen(files[i].text), &e), -TALLY_EINVAL);
		assert_string_equal(e.text, files[i].why);
		web_close(&w);
	}
	assert_int_equal(mem_live(), 0);
}

static void sections_come_in_any_order_and_users_in_theirs(void **state)
{
	static const char text[] = "---\n# all of it\n" USERS "  alice: '" HASH "'\n  \"bob b\": " MD5 " # not long\n\n"
				   "tls_server_config: # both files\r\n  key_file: k\r\n  cert_file: c";
	struct web w = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(web_parse(&w, text, sizeof(text) - 1, &e), 0);
	assert_string_equal(w.cert_file, "c");
	assert_string_equal(w.key_file, "k");
	assert_int_equal(w.nusers, 2);
	assert_string_equal(w.user[0].name, "alice");
	assert_string_equal(w.user[0].hash, HASH);
	assert_string_equal(w.user[1].name, "bob b");
	assert_string_equal(w.user[1].hash, MD5);
	web_close(&w);
	assert_int_equal(web_parse(&w, "", 0, &e), 0);
	assert_null(w.cert_file);
	web_close(&w);
	assert_int_equal(mem_live(), 0);
}

/* crypt(3) takes a hash that lacks a letter, and finds each password wrong. */
static void a_hash_that_no_password_has_is_refused(void **state)
{
#define OF22 "abcdefghijklmnopqrst./"
#define OF43 OF22 "ABCDEFGHIJKLMNOPQRSTU"
	static const char *const good[] = {
		HASH,
		"$2y$31$" OF22 OF22 "012345678",
		MD5,
		"$5$rounds=1000$salt$" OF43,
		"$6$salt$" OF43 OF43,
		"$y$j9T$salt$" OF43,
		"$y$j9T$$" OF43,
		"$gy$j9T$salt$" OF43,
		"$7$CU..../....salt$" OF43,
		"$sha1$40000$salt$" OF22 "ABCDEF",
		"$md5,rounds=5000$salt$$" OF22,
		"$3$$0123456789abcdef0123456789abcdef",
	};
	static const char *const bad[] = {
		"$",
		"$2y$",
		"$2y$05$a",
		"$2y$05" OF22 OF22 "012345678",
		"$2y$05$" OF22 OF22 "01234567",
		"$2y$05$" OF22 OF22 "0123456789",
		"$2y$05$" OF22 OF22 "01234567=",
		"$2y$03$" OF22 OF22 "012345678",
		"$2y$32$" OF22 OF22 "012345678",
		"$2y$5$" OF22 OF22 "012345678",
		"$2y$1a$" OF22 OF22 "012345678",
		"$2y$10$$" OF22 OF22 "012345678",
		"$2z$10$" OF22 OF22 "012345678",
		"$1$" OF22,
		"$1$x$" OF22 "a",
		"$1$a b$" OF22,
		"$6$salt$" OF43,
		"$9$salt$" OF43,
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(good) + COUNT(bad); i++) {
		const bool is_good = i < COUNT(good);
		const char *hash = is_good ? good[i] : bad[i - COUNT(good)];
		struct web w = { 0 };
		char text[256];

		e = (struct err){ 0 };
		snprintf(text, sizeof(text), USERS "  alice: '%s'\n", hash);
		if (web_parse(&w, text, strlen(text), &e) != (is_good ? 0 : -TALLY_EINVAL))
			fail_msg("%s: %s", hash, e.text);
		if (!is_good)
			assert_string_equal(e.text,
					    "line 2: the hash of user 'alice' is malformed (expected $2y$, a cost "
					    "from 04 to 31, $ and 53 letters, as htpasswd -nB makes it)");
		web_close(&w);
	}
	assert_int_equal(mem_live(), 0);
}

/* A password that was right is not checked again after a reload, which may come in the middle of a flood; one of whom
 * the hash changed is. */
static void a_password_that_was_right_is_right_after_a_reload_unless_its_hash_changed(void **state)
{
	static const char before[] = USERS "  alice: " HASH "\n  bob: " HASH "\n  carol: " HASH "\n",
			  after[] = USERS
			  "  bob: $2b$04$abcdefghijklmnopqrstuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n  alice: " HASH "\n";
	static const char *const names[] = { "alice", "bob", "carol" };
	const uint64_t now_ns = UINT64_C(1700000000000000000);
	struct login l = { 0 };
	struct web was = { 0 }, w = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(web_parse(&was, before, sizeof(before) - 1, &e), 0);
	assert_int_equal(web_parse(&w, after, sizeof(after) - 1, &e), 0);
	for (size_t i = 0; i < COUNT(names); i++)
		if (web_login(&was, &l, &(struct login_client){ 1, names[i] }, "secret", now_ns) == WEB_NO_LIBRARY)
			skip();
	web_take_rights(&w, &was);
	web_close(&was);
	for (int i = 0; i < 10; i++) /* no password is checked any more */
		(void)web_login(&w, &l, &(struct login_client){ 2, "alice" }, "wrong", now_ns);
	assert_int_equal(web_login(&w, &l, &(struct login_client){ 2, "alice" }, "secret", now_ns), WEB_RIGHT);
	assert_int_equal(web_login(&w, &l, &(struct login_client){ 2, "alice" }, "wrong", now_ns), WEB_BUSY);
	assert_int_equal(web_login(&w, &l, &(struct login_client){ 1, "bob" }, "secret", now_ns), WEB_BUSY);
	assert_int_equal(web_login(&w, &l, &(struct login_client){ 1, "carol" }, "secret", now_ns), WEB_BUSY);
	assert_int_equal(web_login(&w, &l, &(struct login_client){ 1, NULL }, "secret", now_ns), WEB_WRONG);
	web_close(&w);
	assert_int_equal(mem_live(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scalars_are_what_yaml_makes_of_them),
		cmocka_unit_test(what_is_no_such_file_is_refused_with_its_line),
		cmocka_unit_test(sections_come_in_any_order_and_users_in_theirs),
		cmocka_unit_test(a_hash_that_no_password_has_is_refused),
		cmocka_unit_test(a_password_that_was_right_is_right_after_a_reload_unless_its_hash_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
