/*
 * certificate.c: what is wrong with a certificate, before a client says so.
 *
 * libmicrohttpd says of a certificate that it fails, and not before TLS is started, and it takes one that is out of
 * date. So GnuTLS is asked, which libmicrohttpd brings: with the functions below and their numbers, which are part of
 * its ABI (https://www.gnutls.org/manual/), so that building tally needs none of its headers.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "serve/certificate_int.h"

#define SONAME "libgnutls.so.30"
LIBRARY_NOTE("tls", "tally serve --check: dates of certificates", "suggested", SONAME);

#define CHAIN_MOST 16u
#define GNUTLS_PEM 1 /* GNUTLS_X509_FMT_PEM */

struct gnutls_bytes { /* gnutls_datum_t */
	const char *p;
	unsigned n;
};
struct gnutls {
	int (*certificate_allocate_credentials)(void **ret);
	void (*certificate_free_credentials)(void *both);
	int (*certificate_set_x509_key_mem)(void *both, const struct gnutls_bytes *cert, const struct gnutls_bytes *key,
					    int format);
	int (*x509_crt_list_import)(void **cert, unsigned *most, const struct gnutls_bytes *pem, int format,
				    unsigned flags);
	void (*x509_crt_deinit)(void *cert);
	time_t (*x509_crt_get_activation_time)(void *cert);
	time_t (*x509_crt_get_expiration_time)(void *cert);
};
static const char *const gnutls_names[] = { "gnutls_certificate_allocate_credentials",
					    "gnutls_certificate_free_credentials",
					    "gnutls_certificate_set_x509_key_mem",
					    "gnutls_x509_crt_list_import",
					    "gnutls_x509_crt_deinit",
					    "gnutls_x509_crt_get_activation_time",
					    "gnutls_x509_crt_get_expiration_time" };
static_assert(sizeof(struct gnutls) == COUNT(gnutls_names) * sizeof(void *), "a table of functions and nothing else");

static bool certificate_has_key(const struct gnutls *lib, const struct gnutls_bytes *cert,
				const struct gnutls_bytes *key)
{
	void *both = NULL;
	bool has = lib->certificate_allocate_credentials(&both) >= 0 &&
		   lib->certificate_set_x509_key_mem(both, cert, key, GNUTLS_PEM) >= 0;

	if (both)
		lib->certificate_free_credentials(both);
	return has;
}

/* number: its place in the file; the first is the server's own. */
static void certificate_check_time(const struct gnutls *lib, const char *file, void *cert, unsigned number,
				   uint64_t now_ns, struct err *warning)
{
	const time_t now = (time_t)(now_ns / 1000000000), from = lib->x509_crt_get_activation_time(cert),
		     to = lib->x509_crt_get_expiration_time(cert);
	const bool is_early = from != (time_t)-1 && now < from, is_late = to != (time_t)-1 && now > to;
	char when[32] = "", of_chain[48] = "";
	struct tm tm;

	if (warning->code || !(is_early || is_late))
		return;
	if (gmtime_r(is_late ? &to : &from, &tm))
		(void)strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
	if (number > 1)
		snprintf(of_chain, sizeof(of_chain), " %u of its chain", number);
	(void)err_set(warning, TALLY_EINVAL,
		      is_late ? "%s: certificate%s expired at %s: clients refuse it" :
				"%s: certificate%s is not valid before %s: until then clients refuse it",
		      file, of_chain, when);
}

int certificate_check(const struct certificate *c, uint64_t now_ns, struct err *warning, struct err *e)
{
	const struct gnutls_bytes cert = { c->cert, (unsigned)strlen(c->cert) },
				  key = { c->key, (unsigned)strlen(c->key) };
	void *chain[CHAIN_MOST] = { NULL };
	unsigned n = COUNT(chain);
	struct gnutls lib = { 0 };

	if (!library_load(SONAME, gnutls_names, (void **)(void *)&lib, COUNT(gnutls_names)))
		return 0;
	if (!certificate_has_key(&lib, &cert, &key))
		return err_set(e, TALLY_EINVAL, "failed to start TLS: %s and %s are no certificate with its key",
			       c->cert_file, c->key_file);
	if (lib.x509_crt_list_import(chain, &n, &cert, GNUTLS_PEM, 0) < 0)
		return 0;
	for (unsigned i = 0; i < n; i++) {
		certificate_check_time(&lib, c->cert_file, chain[i], i + 1, now_ns, warning);
		lib.x509_crt_deinit(chain[i]);
	}
	return 0;
}
