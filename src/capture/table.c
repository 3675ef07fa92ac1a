/*
 * table.c: the table `tlp` for DuckDB: a table function that reads the trace
 * itself, so that a query needs no import.
 *
 * DuckDB says which columns a query needs (projection), and only those are
 * filled.  Each scan is a pass of its own over the file: a query that names
 * `tlp` twice gets two.  DuckDB runs with one thread, ours, so scans may use the
 * handle.  Columns are those of CSV and JSON: the fields of tlp_field.def, and
 * three texts.
 */
#include <string.h>

#include "capture/sql_int.h"
#include "ptt/dump.h"

enum { TEXT_TYPE, TEXT_REQUESTER, TEXT_DEVICE, TEXTS };
static const char *const texts[TEXTS] = { "type_name", "requester_text", "device_name" };

struct column {
	const struct tlp_field *field; /* NULL: a text, or a column that nobody reads */
	uint32_t text;                 /* TEXTS: nobody reads it (count(*)) */
	duck_handle vector;
	uint8_t *data;
};
struct scan {
	struct tally_ptt *t;
	struct ptt_pass pass;
	struct ptt_chunk chunk;
	struct ptt_stream *stream;
	size_t at; /* bytes of the chunk that were given */
	uint32_t ncols;
	struct column col[];
};

/* ---- what columns there are ------------------------------------------------------------ */

static int type_of(const struct tlp_field *f)
{
	return (f->is_signed ? DUCK_TINYINT : DUCK_UTINYINT) + __builtin_ctz(f->size);
}

static void bind_column(duck_handle info, const char *name, int type)
{
	duck_handle t = duck()->create_logical_type(type);

	duck()->bind_add_result_column(info, name, t);
	duck()->destroy_logical_type(&t);
}

static void scan_bind(duck_handle info)
{
	for (uint32_t i = 0; i < tlp_nfields; i++)
		bind_column(info, tlp_fields[i].name, type_of(&tlp_fields[i]));
	for (uint32_t i = 0; i < TEXTS; i++)
		bind_column(info, texts[i], DUCK_VARCHAR);
}

/* ---- a scan -------------------------------------------------------------------------------- */

static void scan_close(void *arg)
{
	struct scan *s = arg;

	ptt_pass_close(&s->pass);
	mem_free(s);
}

static struct column column_at(duck_idx i)
{
	if (i < tlp_nfields)
		return (struct column){ .field = &tlp_fields[i] };
	return (struct column){ .text = i < tlp_nfields + TEXTS ? (uint32_t)(i - tlp_nfields) : TEXTS };
}

static void scan_init(duck_handle info)
{
	duck_idx n = duck()->init_get_column_count(info);
	struct scan *s = mem_alloc(sizeof(*s) + n * sizeof(s->col[0]));

	if (!s) {
		duck()->init_set_error(info, "out of memory");
		return;
	}
	s->t = duck()->init_get_extra_info(info);
	s->ncols = (uint32_t)n;
	for (duck_idx i = 0; i < n; i++)
		s->col[i] = column_at(duck()->init_get_column_index(info, i));
	duck()->init_set_max_threads(info, 1);
	duck()->init_set_init_data(info, s, scan_close);
	if (ptt_pass_open(&s->pass, s->t, false) < 0)
		duck()->init_set_error(info, s->t->err.text);
}

static void put_text(const struct scan *s, const struct column *c, duck_idx row, const struct tlp *r)
{
	char room[PTT_BDF_MOST];
	const char *text = room;

	if (c->text == TEXT_TYPE)
		text = tlp_type_at(r->type_index)->name;
	else if (c->text == TEXT_REQUESTER)
		ptt_bdf_text(room, r->segment, r->requester);
	else
		text = ptt_device_name(&s->pass, r->device);
	duck()->vector_assign_string_element_len(c->vector, row, text, strlen(text));
}

static void put_row(struct scan *s, duck_idx row, const struct tlp *r)
{
	for (uint32_t i = 0; i < s->ncols; i++) {
		const struct column *c = &s->col[i];

		if (c->field)
			memcpy(c->data + row * c->field->size, (const char *)r + c->field->offset, c->field->size);
		else if (c->text < TEXTS)
			put_text(s, c, row, r);
	}
}

/* The next record: 1, 0 at the end. */
static int scan_next_record(struct scan *s, struct tlp *r)
{
	for (;;) {
		size_t size = s->chunk.format * 4u;
		int rc;

		if (size && s->at + size <= s->chunk.n) {
			const uint8_t *p = s->chunk.p + s->at;

			s->at += size;
			if (ptt_is_padding(p, s->chunk.format))
				continue;
			ptt_decode_in(p, s->chunk.p + s->chunk.n, &s->stream->o, &s->stream->clock, r);
			r->device = s->chunk.device;
			r->offset = s->chunk.offset + s->at - size;
			return 1;
		}
		rc = ptt_pass_next(&s->pass, &s->chunk, &s->stream);
		s->at = 0;
		if (rc <= 0) {
			s->chunk.n = 0;
			if (rc == 0)
				ptt_pass_notes(&s->pass, true);
			return rc;
		}
	}
}

static void scan_fill_chunk(duck_handle info, duck_handle chunk)
{
	struct scan *s = duck()->function_get_init_data(info);
	duck_idx most = duck()->vector_size(), n = 0;
	struct tlp r;
	int rc = 0;

	for (uint32_t i = 0; i < s->ncols; i++) {
		s->col[i].vector = duck()->data_chunk_get_vector(chunk, i);
		s->col[i].data = duck()->vector_get_data(s->col[i].vector);
	}
	while (n < most && (rc = scan_next_record(s, &r)) > 0)
		put_row(s, n++, &r);
	if (rc < 0)
		duck()->function_set_error(info, s->t->err.text);
	duck()->data_chunk_set_size(chunk, n);
}

int ptt_table_register(struct ptt_sql *q)
{
	duck_handle f = duck()->create_table_function();
	int state;

	duck()->table_function_set_name(f, "tally_tlp");
	duck()->table_function_set_extra_info(f, q->t, NULL);
	duck()->table_function_set_bind(f, scan_bind);
	duck()->table_function_set_init(f, scan_init);
	duck()->table_function_set_function(f, scan_fill_chunk);
	duck()->table_function_supports_projection_pushdown(f, true);
	state = duck()->register_table_function(q->con, f);
	duck()->destroy_table_function(&f);
	return state == DUCK_OK ? 0 : ptt_fail(q->t, TALLY_ENOTSUP, "DuckDB refused the table of records");
}
