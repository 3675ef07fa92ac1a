/* certificate_test.c: certificates whose times are known, and a time that is the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "serve/certificate_int.h"

/* CN=long, valid from 2020-03-01 to 2022-04-01, and its key; CN=ca, which signed it, valid from 2020-01-01 to
 * 2021-01-01, and its key. */
static const char own[] = "-----BEGIN CERTIFICATE-----\n"
			  "MIIBAjCBqgIBAzAKBggqhkjOPQQDAjANMQswCQYDVQQDDAJjYTAeFw0yMDAzMDEw\n"
			  "MDAwMDBaFw0yMjA0MDEwMDAwMDBaMA8xDTALBgNVBAMMBGxvbmcwWTATBgcqhkjO\n"
			  "PQIBBggqhkjOPQMBBwNCAARrJp45Gcd5pNejBrIHIQS/pVTxcficfRW1OCDXLN7y\n"
			  "PIqopHt1v/l8EgS8kUC+peWj6VGMoB7vgvg/sMOhSM7xMAoGCCqGSM49BAMCA0cA\n"
			  "MEQCIBu6Q475tSbMCgZ5uBflqV2er7IcpRZ/Cx7MRgRdoyjkAiBXKo8rBh4Gxxmx\n"
			  "BtuFYcBqZWrTvIays0yKBzuX0/vqvQ==\n"
			  "-----END CERTIFICATE-----\n";
static const char own_key[] = "-----BEGIN EC PRIVATE KEY-----\n"
			      "MHcCAQEEIB4iCV6FXzYTeZvZdOg/gHoM4mX+5y2rlyQkBdcOJBXNoAoGCCqGSM49\n"
			      "AwEHoUQDQgAEayaeORnHeaTXowayByEEv6VU8XH4nH0VtTgg1yze8jyKqKR7db/5\n"
			      "fBIEvJFAvqXlo+lRjKAe74L4P7DDoUjO8Q==\n"
			      "-----END EC PRIVATE KEY-----\n";
static const char ca[] = "-----BEGIN CERTIFICATE-----\n"
			 "MIIBATCBqAIBATAKBggqhkjOPQQDAjANMQswCQYDVQQDDAJjYTAeFw0yMDAxMDEw\n"
			 "MDAwMDBaFw0yMTAxMDEwMDAwMDBaMA0xCzAJBgNVBAMMAmNhMFkwEwYHKoZIzj0C\n"
			 "AQYIKoZIzj0DAQcDQgAEDdnHKZ+YGmZG1DwsrwNB35lxTndlJGBuF3oBfTpJXXO8\n"
			 "UilmRQzygW1uQ+Pu6vc/8TfXZ69nxakYEiLUFegi3jAKBggqhkjOPQQDAgNIADBF\n"
			 "AiAaVfl19gg1RwPTm0EhV+O7JMYzneZWWubcr3TfSvg2jgIhAIziJ5C0yIVTvg9l\n"
			 "y3PRJmvaLZ5ijuNfvZxYKy55DaK5\n"
			 "-----END CERTIFICATE-----\n";
static const char ca_key[] = "-----BEGIN EC PRIVATE KEY-----\n"
			     "MHcCAQEEIN/Ze6iiEU1ekxlZZHIrW+Xdxe4HUxoSJ9+MniqaovvpoAoGCCqGSM49\n"
			     "AwEHoUQDQgAEDdnHKZ+YGmZG1DwsrwNB35lxTndlJGBuF3oBfTpJXXO8UilmRQzy\n"
			     "gW1uQ+Pu6vc/8TfXZ69nxakYEiLUFegi3g==\n"
			     "-----END EC PRIVATE KEY-----\n";

#define SECOND UINT64_C(1000000000)
#define MARCH_2020 (1583020800 * SECOND)
#define JANUARY_2021 (1609459200 * SECOND)
#define APRIL_2022 (1648771200 * SECOND)

static void needs_gnutls(void)
{
	static const char *const names[] = { "gnutls_check_version" };
	void *function;

	if (!library_load("libgnutls.so.30", names, &function, 1))
		skip();
}

static int check(const char *cert, const char *key, uint64_t now_ns, struct err *warning, struct err *e)
{
	const struct certificate c = { "a.crt", "a.key", cert, key };

	*warning = *e = (struct err){ 0 };
	return certificate_check(&c, now_ns, warning, e);
}

static void a_certificate_out_of_its_time_is_warned_of(void **state)
{
	static const struct {
		uint64_t now_ns;
		bool chain;
		const char *words;
	} row[] = {
		{ MARCH_2020 - SECOND, false,
		  "a.crt: certificate is not valid before 2020-03-01 00:00:00 UTC: until then clients refuse it" },
		{ MARCH_2020, false, "" },
		{ APRIL_2022, false, "" },
		{ APRIL_2022 + SECOND, false,
		  "a.crt: certificate expired at 2022-04-01 00:00:00 UTC: clients refuse it" },
		{ JANUARY_2021, true, "" },
		{ JANUARY_2021 + SECOND, true,
		  "a.crt: certificate 2 of its chain expired at 2021-01-01 00:00:00 UTC: clients refuse it" },
		{ APRIL_2022 + SECOND, true,
		  "a.crt: certificate expired at 2022-04-01 00:00:00 UTC: clients refuse it" },
	};
	char chain[sizeof(own) + sizeof(ca)];
	struct err warning, e;

	(void)state;
	needs_gnutls();
	snprintf(chain, sizeof(chain), "%s%s", own, ca);
	for (size_t i = 0; i < COUNT(row); i++) {
		assert_int_equal(check(row[i].chain ? chain : own, own_key, row[i].now_ns, &warning, &e), 0);
		assert_string_equal(warning.text, row[i].words);
	}
	assert_int_equal(mem_live(), 0);
}

static void a_key_of_another_certificate_and_nonsense_are_refused(void **state)
{
	static const struct {
		const char *cert, *key;
	} row[] = {
		{ own, ca_key }, { ca, own_key }, { own_key, own_key }, { own, own }, { "", own_key }, { own, "" }
	};
	struct err warning, e;

	(void)state;
	needs_gnutls();
	for (size_t i = 0; i < COUNT(row); i++) {
		assert_int_equal(check(row[i].cert, row[i].key, MARCH_2020, &warning, &e), -TALLY_EINVAL);
		assert_string_equal(e.text, "failed to start TLS: a.crt and a.key are no certificate with its key");
	}
	assert_int_equal(mem_live(), 0);
}

static void of_a_long_chain_the_first_ones_are_looked_at(void **state)
{
	struct buf chain = { 0 };
	struct err warning, e;

	(void)state;
	needs_gnutls();
	buf_puts(&chain, own);
	for (int i = 0; i < 40; i++)
		buf_puts(&chain, ca);
	assert_int_equal(check(chain.p, own_key, APRIL_2022, &warning, &e), 0);
	assert_non_null(strstr(warning.text, "certificate 2 of its chain expired"));
	buf_free(&chain);
	assert_int_equal(mem_live(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_certificate_out_of_its_time_is_warned_of),
		cmocka_unit_test(of_a_long_chain_the_first_ones_are_looked_at),
		cmocka_unit_test(a_key_of_another_certificate_and_nonsense_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
