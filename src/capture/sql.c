/*
 * sql.c: SQL over a trace, and Parquet.
 *
 * DuckDB runs in memory, with one thread and without the network (it would load
 * extensions from it).  A query is prepared as it was given, so that what is
 * wrong in it is said in its own words and places; then it runs inside
 * another one that makes text of every column, and rows go out as they come.
 */
#include <string.h>

#include "answer/page.h"
#include "capture/sql_int.h"

#define BLOCK_ROWS 4096u /* of a text table: widths are known for so many */

/* ---- the connection ---------------------------------------------------------------------- */

/* DuckDB's words become ours, unless we know better what happened below it. */
static int sql_refused(struct ptt_sql *q, enum tally_err code, const char *words)
{
	static const char *const prefixes[] = { "Invalid Input Error: ", "Invalid Error: " };

	for (size_t i = 0; words && i < COUNT(prefixes); i++)
		if (!strncmp(words, prefixes[i], strlen(prefixes[i])))
			words += strlen(prefixes[i]);
	/* It would propose a catalogue of its own. */
	if (words && q->t->is_answers && strstr(words, "Table with name ") && strstr(words, " does not exist"))
		return ptt_fail(q->t, code,
				"%.*s: each aggregation of the file is a table, and what was lost is losses",
				(int)strcspn(words, "!\n"), words);
	if (words && strstr(words, "Table with name ") && strstr(words, " does not exist"))
		return ptt_fail(q->t, code, "%.*s: the trace is the table tlp, and 'tally dump -h' names its columns",
				(int)strcspn(words, "!\n"), words);
	return ptt_fail(q->t, code, "%s", words ? words : "DuckDB failed");
}

int ptt_sql_run(struct ptt_sql *q, const char *sql)
{
	struct duck_result r = { 0 };
	int rc = 0;

	if (duck()->query(q->con, sql, &r) != DUCK_OK)
		rc = q->t->err.code ? -q->t->err.code : sql_refused(q, TALLY_EIO, duck()->result_error(&r));
	duck()->destroy_result(&r);
	return rc;
}

static int open_database(struct ptt_sql *q)
{
	static const struct {
		const char *name, *value;
	} settings[] = {
		{ "threads", "1" },
		{ "autoinstall_known_extensions", "false" },
		{ "autoload_known_extensions", "false" },
	};
	duck_handle config = NULL;
	char *error = NULL;
	int rc = 0;

	if (duck()->create_config(&config) != DUCK_OK)
		return ptt_oom(q->t);
	for (size_t i = 0; i < COUNT(settings); i++)
		(void)duck()->set_config(config, settings[i].name, settings[i].value);
	if (duck()->open_ext(NULL, &q->db, config, &error) != DUCK_OK || duck()->connect(q->db, &q->con) != DUCK_OK)
		rc = sql_refused(q, TALLY_ENOTSUP, error);
	duck()->free(error);
	duck()->destroy_config(&config);
	return rc;
}

int ptt_sql_open(struct ptt_sql *q, struct tally_ptt *t, const char *library)
{
	struct err e = { 0 };
	int rc = duck_load(library, &e);

	*q = (struct ptt_sql){ .t = t };
	if (rc < 0)
		return ptt_failed_as(t, &e, rc);
	rc = open_database(q);
	if (rc >= 0 && t->is_answers)
		return ptt_answers_register(q);
	if (rc >= 0)
		rc = ptt_table_register(q);
	return rc < 0 ? rc : ptt_sql_run(q, "CREATE TEMP VIEW tlp AS SELECT * FROM tally_tlp()");
}

void ptt_sql_close(struct ptt_sql *q)
{
	ptt_answers_free(q);
	if (q->con)
		duck()->disconnect(&q->con);
	if (q->db)
		duck()->close(&q->db);
}

/* ---- rows to text -------------------------------------------------------------------------- */

struct rows;
struct sql_form {
	void (*begin)(struct rows *w, struct buf *to);
	void (*row)(struct rows *w, struct buf *to);
	void (*end)(struct rows *w, struct buf *to);
};
struct rows {
	struct ptt_sql *q;
	const struct tally_ptt_export_opts *o;
	const struct sql_form *form;
	duck_handle asked, stmt; /* as it was given, and as it runs */
	struct duck_result result;
	uint32_t ncols;
	struct an_column *col;
	int *type;        /* enum duck_type of each, before it became text */
	struct buf *cell; /* one of each column: the row */
	bool *none;
	struct an_page page; /* TEXT: the block that is filled */
	struct an_part *table;
	uint32_t inblock;
	char separator;
	int (*each)(void *arg, const char *const *cell); /* of ptt_sql_each() */
	void *arg;
	const char **text;
	int rc; /* what it returned */
};

static bool is_number(int type)
{
	return (type >= DUCK_TINYINT && type <= DUCK_DOUBLE) || type == DUCK_HUGEINT || type == DUCK_UHUGEINT ||
	       type == DUCK_DECIMAL;
}

/* JSON has neither infinity nor "not a number". */
static bool is_json_number(const struct buf *b)
{
	return b->n && strspn(b->p, "+-.0123456789eE") == b->n;
}

static void row_json(struct rows *w, struct buf *to)
{
	for (uint32_t i = 0; i < w->ncols; i++) {
		const struct buf *b = &w->cell[i];
		int type = w->type[i];

		buf_putc(to, i ? ',' : '{');
		buf_json_str(to, w->col[i].title, strlen(w->col[i].title));
		buf_putc(to, ':');
		if (w->none[i] || (is_number(type) && !is_json_number(b)))
			buf_puts(to, "null");
		else if (is_number(type) || type == DUCK_BOOLEAN)
			buf_put(to, b->p, b->n);
		else
			buf_json_str(to, b->p ? b->p : "", b->n);
	}
	buf_puts(to, "}\n");
}

static void row_csv(struct rows *w, struct buf *to)
{
	for (uint32_t i = 0; i < w->ncols; i++) {
		if (i)
			buf_putc(to, w->separator);
		if (!w->none[i])
			an_csv_cell(to, w->cell[i].p ? w->cell[i].p : "", w->cell[i].n, w->separator);
	}
	buf_putc(to, '\n');
}

static void csv_begin(struct rows *w, struct buf *to)
{
	for (uint32_t i = 0; i < w->ncols; i++) {
		if (i)
			buf_putc(to, w->separator);
		an_csv_cell(to, w->col[i].title, strlen(w->col[i].title), w->separator);
	}
	buf_putc(to, '\n');
}

static void text_begin(struct rows *w, struct buf *to)
{
	(void)to;
	an_page_open(&w->page, "rows", "");
	w->table = an_page_table(&w->page, "rows", NULL, w->col, w->ncols);
	w->inblock = 0;
}

static void text_end(struct rows *w, struct buf *to)
{
	struct an_text_opts wide = { .columns = UINT32_MAX };

	if (w->table)
		an_table_text(to, &w->table->table, &wide);
	to->failed |= an_page_failed(&w->page);
	an_page_free(&w->page);
}

static void row_text(struct rows *w, struct buf *to)
{
	struct an_cell *cells = arena_alloc(&w->page.arena, w->ncols * sizeof(*cells));

	for (uint32_t i = 0; cells && i < w->ncols; i++)
		cells[i] = w->none[i] ? AN_NONE : AN_S(w->cell[i].p ? w->cell[i].p : "");
	if (cells)
		an_row(&w->page, w->table, cells);
	if (++w->inblock == BLOCK_ROWS) {
		text_end(w, to);
		text_begin(w, to);
	}
}

static void sql_nothing(struct rows *w, struct buf *to)
{
	(void)w;
	(void)to;
}

static void row_hand_over(struct rows *w, struct buf *to)
{
	(void)to;
	for (uint32_t i = 0; i < w->ncols; i++)
		w->text[i] = w->none[i] ? NULL : w->cell[i].p ? w->cell[i].p : "";
	if (w->rc >= 0)
		w->rc = w->each(w->arg, w->text);
}

static const struct sql_form sql_each_form = { sql_nothing, row_hand_over, sql_nothing };
static const struct sql_form sql_forms[] = {
	[TALLY_FORMAT_TEXT] = { text_begin, row_text, text_end },
	[TALLY_FORMAT_JSON] = { sql_nothing, row_json, sql_nothing },
	[TALLY_FORMAT_CSV] = { csv_begin, row_csv, sql_nothing },
};

/* ---- running a query ------------------------------------------------------------------------- */

static void read_cell(struct rows *w, uint32_t col, duck_handle vector, duck_idx row)
{
	const union duck_string *s = duck()->vector_get_data(vector);
	const uint64_t *valid = duck()->vector_get_validity(vector);
	struct buf *b = &w->cell[col];

	buf_clear(b);
	w->none[col] = valid && !(valid[row / 64] >> row % 64 & 1);
	if (w->none[col])
		return;
	if (s[row].inlined.n <= sizeof(s->inlined.s))
		buf_put(b, s[row].inlined.s, s[row].inlined.n);
	else
		buf_put(b, s[row].pointer.p, s[row].pointer.n);
	w->q->t->out.failed |= b->failed;
}

static int chunk_rows(struct rows *w, duck_handle chunk)
{
	duck_idx n = duck()->data_chunk_get_size(chunk);
	struct tally_ptt *t = w->q->t;
	int rc = 0;

	for (duck_idx row = 0; rc >= 0 && row < n; row++) {
		for (uint32_t i = 0; i < w->ncols; i++)
			read_cell(w, i, duck()->data_chunk_get_vector(chunk, i), row);
		w->form->row(w, &t->out);
		if (t->out.n >= PTT_FLUSH_BYTES)
			rc = ptt_flush(t, w->o->out, w->o->arg);
	}
	return rc;
}

static int all_rows(struct rows *w)
{
	struct tally_ptt *t = w->q->t;
	duck_handle chunk;
	const char *error;
	int rc = 0;

	while (rc >= 0 && (chunk = duck()->fetch_chunk(w->result))) {
		rc = chunk_rows(w, chunk);
		duck()->destroy_data_chunk(&chunk);
	}
	if (rc < 0)
		return rc;
	error = duck()->result_error(&w->result);
	if (t->err.code || error) /* a stream says at its end that it broke */
		return t->err.code ? -t->err.code : sql_refused(w->q, TALLY_ESYNTAX, error);
	w->form->end(w, &t->out);
	return ptt_flush(t, w->o->out, w->o->arg);
}

static int sql_prepare_rows(struct rows *w, const char *sql, duck_handle *stmt)
{
	if (duck()->prepare(w->q->con, sql, stmt) == DUCK_OK)
		return 0;
	return sql_refused(w->q, TALLY_ESYNTAX, duck()->prepare_error(*stmt));
}

/* The query in another one: without the semicolon that people end queries with. */
static int prepare_as_text(struct rows *w, const char *sql)
{
	struct buf b = { 0 };
	size_t n = strlen(sql);
	int rc;

	while (n && strchr("; \t\r\n", sql[n - 1]))
		n--;
	buf_puts(&b, "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (");
	buf_put(&b, sql, n);
	buf_puts(&b, "\n)");
	rc = b.failed ? ptt_oom(w->q->t) : sql_prepare_rows(w, b.p, &w->stmt);
	buf_free(&b);
	return rc;
}

static int learn_columns(struct rows *w)
{
	struct tally_ptt *t = w->q->t;

	if (duck()->prepared_statement_type(w->asked) != DUCK_STATEMENT_SELECT)
		return ptt_fail(t, TALLY_ESYNTAX, "only SELECT is supported on a trace");
	w->ncols = (uint32_t)duck()->prepared_statement_column_count(w->asked);
	w->col = mem_alloc((w->ncols + 1) * sizeof(*w->col));
	w->cell = mem_alloc((w->ncols + 1) * sizeof(*w->cell));
	w->none = mem_alloc(w->ncols + 1);
	w->type = mem_alloc((w->ncols + 1) * sizeof(*w->type));
	w->text = mem_alloc((w->ncols + 1) * sizeof(*w->text));
	if (!w->text || !w->col || !w->cell || !w->none || !w->type)
		return ptt_oom(t);
	for (uint32_t i = 0; i < w->ncols; i++) {
		const char *name = duck()->prepared_statement_column_name(w->asked, i);

		w->type[i] = duck()->prepared_statement_column_type(w->asked, i);
		w->col[i].unit = is_number(w->type[i]) ? AN_DIGITS : AN_TEXT;
		w->col[i].title = name ? mem_strdup(name) : NULL;
		duck()->free((void *)name);
		if (!w->col[i].title)
			return ptt_oom(t);
	}
	return 0;
}

static void rows_close(struct rows *w)
{
	duck()->destroy_result(&w->result);
	duck()->destroy_prepare(&w->stmt);
	duck()->destroy_prepare(&w->asked);
	for (uint32_t i = 0; i < w->ncols; i++) {
		if (w->col)
			mem_free((char *)w->col[i].title);
		if (w->cell)
			buf_free(&w->cell[i]);
	}
	mem_free(w->col);
	mem_free(w->cell);
	mem_free(w->none);
	mem_free(w->type);
	mem_free(w->text);
	an_page_free(&w->page);
}

static int rows_run(struct rows *w)
{
	struct ptt_sql *q = w->q;
	int rc = sql_prepare_rows(w, w->o->sql, &w->asked);

	if (rc >= 0)
		rc = learn_columns(w);
	if (rc >= 0)
		rc = prepare_as_text(w, w->o->sql);
	if (rc >= 0)
		w->form->begin(w, &q->t->out);
	if (rc >= 0 && duck()->execute_prepared_streaming(w->stmt, &w->result) != DUCK_OK)
		rc = q->t->err.code ? -q->t->err.code : sql_refused(q, TALLY_ESYNTAX, duck()->result_error(&w->result));
	if (rc >= 0)
		rc = all_rows(w);
	rows_close(w);
	return rc;
}

int ptt_sql_rows(struct ptt_sql *q, const struct tally_ptt_export_opts *o)
{
	struct rows w = {
		.q = q, .o = o, .form = &sql_forms[o->format], .separator = o->separator ? o->separator : ','
	};

	return rows_run(&w);
}

int ptt_sql_each(struct ptt_sql *q, const char *sql, int (*each)(void *arg, const char *const *cell), void *arg)
{
	const struct tally_ptt_export_opts o = { .sql = sql };
	struct rows w = { .q = q, .o = &o, .form = &sql_each_form, .each = each, .arg = arg };
	int rc = rows_run(&w);

	return rc < 0 ? rc : w.rc;
}

/* ---- Parquet -------------------------------------------------------------------------------------- */

void ptt_sql_quote(struct buf *b, const char *s)
{
	buf_putc(b, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			buf_putc(b, '\'');
		buf_putc(b, *s);
	}
	buf_putc(b, '\'');
}

/* The columns that --partition names, in its order. */
static int sql_find_partitions(struct ptt_sql *q, const struct tally_ptt_export_opts *o, struct ptt_partition *p,
			       uint32_t *n)
{
	const char *what = q->t->is_answers ? "program" : "capture";
	const struct ptt_partition known[] = { { "host", o->host }, { what, o->capture }, { "hour", o->hour } };

	*n = 0;
	for (const char *s = o->partition; s && *s; s += strcspn(s, ","), s += *s == ',') {
		size_t len = strcspn(s, ","), k = 0;

		while (k < COUNT(known) && (strlen(known[k].name) != len || strncmp(known[k].name, s, len)))
			k++;
		for (uint32_t i = 0; k < COUNT(known) && i < *n; i++)
			if (p[i].name == known[k].name)
				k = COUNT(known);
		if (k == COUNT(known))
			return ptt_fail(q->t, TALLY_EINVAL,
					"invalid partition '%.*s' (expected host, %s and hour, each at most once)",
					(int)len, s, what);
		if (!known[k].value || !known[k].value[0])
			return ptt_fail(q->t, TALLY_EINVAL, "the %s of the file is unknown", known[k].name);
		p[(*n)++] = known[k];
	}
	return 0;
}

/* FNV-1a, which must stay: names of files that exist depend on it. */
static uint64_t hash_bytes(const struct bytes_in *in, uint64_t off, uint64_t h)
{
	const uint8_t *p;
	int64_t n = in->at(in->arg, off, 64u << 10, &p);

	for (int64_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 0x100000001b3ull;
	return h;
}

uint64_t ptt_sql_hash(const struct tally_ptt *t)
{
	const struct bytes_in *in = &t->in;
	uint64_t h = hash_bytes(in, 0, 0xcbf29ce484222325ull ^ in->size);

	return hash_bytes(in, in->size > (64u << 10) ? in->size - (64u << 10) : 0, h);
}

/* Captures share directories, so each has a file name of its own there; the same one gets the same again, made of
 * its size, its begin and its end.  Of a pipe nothing is known before it was read. */
static void file_name(struct buf *b, const struct tally_ptt *t)
{
	if (ptt_is_pipe(t))
		buf_puts(b, "tlp_{uuid}");
	else
		buf_printf(b, "%s_%016llx_{i}", t->is_answers ? "answer" : "tlp", (unsigned long long)ptt_sql_hash(t));
}

static void copy_statement(struct buf *b, const struct tally_ptt *t, const struct tally_ptt_export_opts *o,
			   const struct ptt_partition *p, uint32_t n)
{
	size_t len = o->sql ? strlen(o->sql) : 0;

	while (len && strchr("; \t\r\n", o->sql[len - 1]))
		len--;
	buf_puts(b, "COPY (SELECT *");
	for (uint32_t i = 0; i < n; i++) {
		buf_puts(b, ", ");
		ptt_sql_quote(b, p[i].value);
		buf_printf(b, " AS %s", p[i].name);
	}
	buf_puts(b, o->sql ? " FROM (" : " FROM tlp");
	buf_put(b, o->sql ? o->sql : "", len);
	buf_puts(b, o->sql ? "\n)) TO " : ") TO ");
	ptt_sql_quote(b, o->path);
	buf_puts(b, " (FORMAT PARQUET, COMPRESSION ZSTD");
	if (n) {
		buf_puts(b, ", OVERWRITE_OR_IGNORE, FILENAME_PATTERN '");
		file_name(b, t);
		buf_putc(b, '\'');
	}
	for (uint32_t i = 0; i < n; i++)
		buf_printf(b, "%s%s", i ? ", " : ", PARTITION_BY (", p[i].name);
	buf_puts(b, n ? "))" : ")");
}

int ptt_sql_parquet(struct ptt_sql *q, const struct tally_ptt_export_opts *o)
{
	struct rows w = { .q = q, .o = o };
	struct ptt_partition p[3];
	struct buf b = { 0 };
	uint32_t n;
	int rc = sql_find_partitions(q, o, p, &n);

	if (rc >= 0 && q->t->is_answers && n && !o->sql)
		return ptt_answers_parquet(q, o, p, n);
	if (rc >= 0 && o->sql)
		rc = sql_prepare_rows(&w, o->sql, &w.asked);
	if (rc >= 0 && o->sql && duck()->prepared_statement_type(w.asked) != DUCK_STATEMENT_SELECT)
		rc = ptt_fail(q->t, TALLY_ESYNTAX, "only SELECT is supported on a trace");
	duck()->destroy_prepare(&w.asked);
	if (rc >= 0)
		copy_statement(&b, q->t, o, p, n);
	if (rc >= 0)
		rc = b.failed ? ptt_oom(q->t) : ptt_sql_run(q, b.p);
	buf_free(&b);
	return rc;
}
