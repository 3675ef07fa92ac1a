/* Tests of what push.c takes for a URL, and of the numbers of libcurl against its own header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#if __has_include(<curl/curl.h>)
#include <curl/curl.h>
#endif

#include "serve/curl_int.h"
#include "serve/push_int.h"

static void a_url_is_a_scheme_and_a_server(void **state)
{
	static const struct {
		const char *url;
		bool well;
	} row[] = {
		{ "http://127.0.0.1:4040", true },
		{ "https://[::1]:4040/", true },
		{ "https://host/prefix", true },
		{ "http://host/a@b", true },
		{ "", false },
		{ "http", false },
		{ "://", false },
		{ "http://", false },
		{ "https:///x", false },
		{ "file:///etc/passwd", false },
		{ "xhttp://host", false },
		{ "http://host/?name=x", false },
		{ "http://host/#x", false },
		{ "http://host /", false },
		{ "http://me@host", false },
		{ "http://me:secret@host/", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct err e = { 0 };
		const int rc = push_check_url(row[i].url, &e);

		if ((rc == 0) != row[i].well)
			fail_msg("%s: %d", row[i].url, rc);
		assert_null(strstr(e.text, "secret"));
	}
}

static void numbers_of_the_library_are_its_own(void **state)
{
	(void)state;
#ifdef CURLINC_CURL_H
#define X(ours, theirs, number) assert_int_equal((long)(theirs), LIBCURL_##ours);
	CURL_NUMBERS(X)
#undef X
	assert_int_equal(sizeof(CURLMsg), sizeof(struct curl_message));
	assert_int_equal(offsetof(CURLMsg, data), offsetof(struct curl_message, result));
#else
	skip();
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_url_is_a_scheme_and_a_server),
		cmocka_unit_test(numbers_of_the_library_are_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
