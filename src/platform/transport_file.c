/*
 * transport_file.c: what was saved of a hypervisor: one reply of 0xF080, or the 0x200 bytes of MMU statistics.
 *
 * Neither has a magic.  A reply is known by its header: a request that there is, and
 * records of that request's size, all of which are in the file.  A dump of MMU
 * statistics is known by its length.  A file of hexadecimal digits and blanks only is
 * taken as the bytes that they spell, so what `tally get --raw` prints can be read again.
 *
 * A reply becomes a transport that answers its own request from the saved records, as many as fit into what the asker
 * gave, and every other with H_Not_Available; so all that reads a hypervisor reads a file.
 */
#include <stdio.h>
#include <sys/stat.h>

#include "base/file.h"
#include "platform/transport.h"

#define FILE_MOST (1u << 20)
#define REPLY_BASE UINT64_C(0x1000)
enum {
	AT_INDEX = 0x04,
	AT_SECONDARY = 0x08,
	AT_RETURNED = 0x0a,
	AT_DETAIL = 0x0c
}; /* in a reply's header: papr_gpci.txt */

/* ---- bytes ------------------------------------------------------------------------------ */

static int saved_digit(uint8_t c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 :
				      -1;
}

static bool is_blank(uint8_t c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* The bytes that text spells, or nothing where it is no such text. */
static bool saved_spell_bytes(const uint8_t *p, size_t n, struct buf *to)
{
	int high = -1;

	for (size_t i = 0; i < n; i++) {
		int d = saved_digit(p[i]);

		if (is_blank(p[i]) && high < 0)
			continue;
		if (d < 0)
			return false;
		if (high >= 0)
			buf_putc(to, (char)(high << 4 | d));
		high = high < 0 ? d : -1;
	}
	return n && high < 0;
}

/* ---- a reply ------------------------------------------------------------------------------- */

/* behind the transport */
struct saved {
	struct hv_transport_ops op;
	char what[128];
	const struct gpci_request *r;
	struct gpci_reply all;    /* over block */
	uint8_t block[GPCI_MOST]; /* as saved */
	uint8_t memory[GPCI_MOST];
};

static void put_be(uint8_t *p, uint32_t bytes, uint64_t v)
{
	while (bytes--) {
		p[bytes] = (uint8_t)v;
		v >>= 8;
	}
}

static bool is_from(const struct gpci_reply *ask, const struct saved *s, const struct gpci_values *v)
{
	uint64_t from = ask->starting_index < 0 ? 0 : (uint64_t)ask->starting_index;

	return v->id > from || (v->id == from && (s->r->index != GPCI_BY_VP || v->secondary >= ask->secondary_index));
}

/* Copies records into the memory, from the one on that was asked for: how it ended. */
static enum papr_rc saved_copy_records(struct saved *s, const struct gpci_reply *ask, size_t room)
{
	size_t from = GPCI_HEADER, to = GPCI_HEADER;
	uint16_t n = 0;
	bool full = false;

	memcpy(s->memory, s->block, GPCI_HEADER);
	for (uint32_t i = 0; i < s->all.returned && !full; i++) {
		struct gpci_values v;
		struct err e = { 0 };
		size_t bytes;

		if (gpci_record(s->r, &s->all, i, &v, &e) < 0)
			break;
		bytes = gpci_record_bytes(s->r, &v);
		full = is_from(ask, s, &v) && bytes > room - to;
		if (is_from(ask, s, &v) && !n) {
			put_be(s->memory + AT_INDEX, 4, v.id);
			put_be(s->memory + AT_SECONDARY, 2, v.secondary);
		}
		if (is_from(ask, s, &v) && !full) {
			memcpy(s->memory + to, s->block + from, bytes);
			to += bytes;
			n++;
		}
		from += bytes;
	}
	put_be(s->memory + AT_RETURNED, 2, n);
	put_be(s->memory + AT_DETAIL, 4, full ? GPCI_BUF_TOO_SMALL : 0);
	return full || !n ? H_PARAMETER : H_SUCCESS;
}

static int saved_answer(void *arg, uint32_t vcpu, uint64_t r[3], struct err *e)
{
	struct saved *s = arg;
	size_t room = r[2] < GPCI_MOST ? (size_t)r[2] : GPCI_MOST;
	struct gpci_reply ask;
	int rc = gpci_reply(&ask, s->memory, GPCI_HEADER, e);

	(void)vcpu;
	if (rc < 0)
		return rc;
	if (room < GPCI_HEADER + s->r->size)
		r[0] = (uint64_t)H_PARAMETER;
	else
		r[0] = (uint64_t)(ask.request == s->r->number ? saved_copy_records(s, &ask, room) : H_NOT_AVAILABLE);
	return 0;
}

static void close_saved(void *arg)
{
	mem_free(arg);
}

/* The request of a header, with all its records behind it; NULL: this is no reply. */
static const struct gpci_request *is_reply(const uint8_t *p, size_t n)
{
	const struct gpci_request *r;
	struct gpci_values last;
	struct gpci_reply rep;
	struct err e = { 0 };

	if (n > GPCI_MOST || gpci_reply(&rep, p, n, &e) < 0 || !rep.returned)
		return NULL;
	r = gpci_request(rep.request, (uint8_t)rep.version_out, (uint8_t)rep.version_in);
	if (!r || (rep.element_size && rep.element_size != r->size))
		return NULL;
	return gpci_record(r, &rep, rep.returned - 1, &last, &e) < 0 ? NULL : r;
}

static int keep_reply(struct transport_file *f, const char *name, const uint8_t *p, size_t n,
		      const struct gpci_request *r, struct err *e)
{
	struct saved *s = mem_alloc(sizeof(*s));

	if (!s)
		return err_oom(e);
	memcpy(s->block, p, n);
	s->r = r;
	(void)gpci_reply(&s->all, s->block, n, e); /* as before: is_reply() */
	snprintf(s->what, sizeof(s->what), "%s", name);
	s->op = (struct hv_transport_ops){ .what = s->what, .papr = saved_answer, .close = close_saved };
	f->reply = (struct hv_transport){ .arg = s,
					  .op = &s->op,
					  .level = (uint8_t)s->all.version_out,
					  .memory = s->memory,
					  .base = REPLY_BASE,
					  .bytes = sizeof(s->memory) };
	f->version = (uint8_t)s->all.version_in;
	f->request = r->number;
	return 0;
}

int transport_file_parse(struct transport_file *ret, const char *name, const uint8_t *p, size_t n, struct err *e)
{
	struct transport_file f = { .is_mmustat = false };
	const struct gpci_request *r;
	struct buf bytes = { 0 };
	int rc = 0;

	if (saved_spell_bytes(p, n, &bytes)) {
		p = (const uint8_t *)bytes.p;
		n = bytes.n;
	}
	if (bytes.failed) {
		rc = err_oom(e);
	} else if ((r = is_reply(p, n)) != NULL) {
		rc = keep_reply(&f, name, p, n, r, e);
	} else if (n == MMUSTAT_BYTES) {
		f.is_mmustat = true;
		memcpy(f.mmustat, p, n);
	} else {
		rc = err_set(
			e, TALLY_ECORRUPT,
			"%s is neither a reply of H_GetPerformanceCounterInfo nor a dump of MMU statistics (%u bytes)",
			name, MMUSTAT_BYTES);
	}
	buf_free(&bytes);
	if (rc >= 0)
		*ret = f;
	return rc;
}

int transport_file_open(struct transport_file *ret, const char *path, struct err *e)
{
	struct stat st;
	uint8_t *p;
	size_t n;
	int rc;

	if (stat(path, &st) == 0 && S_ISSOCK(st.st_mode))
		return err_set(e, TALLY_EINVAL, "%s is a socket, not a file: --on unix:%s", path, path);
	/* A pipe that nobody writes would keep us waiting. */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return err_set(e, TALLY_EINVAL, "%s is not a regular file", path);
	rc = file_read_all(path, FILE_MOST, &p, &n, e);
	if (rc < 0)
		return rc;
	rc = transport_file_parse(ret, path, p, n, e);
	mem_free(p);
	return rc;
}
