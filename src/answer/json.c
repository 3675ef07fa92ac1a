/*
 * json.c: answers as JSON lines, one object a line.  Numbers are numbers, also
 * those above 2^53: readers that care have 64 bits.  Schema AN_JSON_SCHEMA:
 * fields may be added to an object, none changes its meaning.
 */
#include <math.h>
#include <string.h>

#include "answer/answer_int.h"

static void json_put_frames(struct buf *to, const struct an_value *v)
{
	buf_putc(to, '[');
	for (uint32_t i = 0; i < v->nframes; i++) {
		if (i > 0)
			buf_putc(to, ',');
		buf_json_str(to, v->frame[i], strlen(v->frame[i]));
	}
	buf_putc(to, ']');
}

static void json_put_hex(struct buf *to, const struct an_value *v)
{
	buf_putc(to, '"');
	for (uint32_t i = 0; v->s != NULL && i < v->len; i++)
		buf_printf(to, "%02x", (unsigned char)v->s[i]);
	buf_putc(to, '"');
}

void an_json_value(struct buf *to, const struct an_value *v)
{
	if (an_is_stack(v))
		json_put_frames(to, v);
	else if (v->kind == SLOT_INT)
		an_decimal(to, v, 0);
	else if (v->kind == SLOT_FLOAT && isfinite(an_float(v)))
		buf_printf(to, "%.*Lg", 17, an_float(v));
	else if (v->kind == SLOT_BYTES && !an_printable(v))
		json_put_hex(to, v);
	else if (v->s == NULL && v->kind != SLOT_STRING && v->kind != SLOT_BYTES)
		buf_printf(to, "\"0x%llx\"", (unsigned long long)v->i);
	else
		buf_json_str(to, v->s != NULL ? v->s : "", an_text_len(v));
}

static void json_put_bound(struct buf *to, const char *name, bool known, int64_t v)
{
	if (known)
		buf_printf(to, "\"%s\":%lld,", name, (long long)v);
	else
		buf_printf(to, "\"%s\":null,", name);
}

static void json_put_buckets(struct buf *to, const struct an_agg *a, const struct an_row *r)
{
	uint32_t n = an_hist_buckets(a);
	bool first = true;
	buf_puts(to, "\"buckets\":[");
	for (uint32_t b = 0; b < n && b < r->nbuckets; b++) {
		int64_t count = an_hist_count(r, b);
		if (count == 0)
			continue;
		buf_puts(to, first ? "{" : ",{");
		json_put_bound(to, "from", b > 0, an_hist_least(a, b));
		json_put_bound(to, "to", b + 1 < n, b + 1 < n ? an_hist_least(a, b + 1) - 1 : 0);
		buf_printf(to, "\"count\":%lld}", (long long)an_normalized(a, count));
		first = false;
	}
	buf_putc(to, ']');
}

void an_json_agg(struct buf *to, const struct an_agg *a)
{
	struct an_value value = { .kind = SLOT_INT, .width = 8, .is_signed = an_agg_signed(a) };
	for (uint32_t i = 0; i < a->nrows; i++) {
		const struct an_row *r = &a->row[i];
		buf_puts(to, "{\"type\":\"aggregation\",\"name\":");
		buf_json_str(to, a->name, strlen(a->name));
		buf_printf(to, ",\"function\":\"%s\",\"keys\":[", an_agg_function(a->fn));
		for (uint32_t k = 0; k < r->nkeys; k++) {
			if (k > 0)
				buf_putc(to, ',');
			an_json_value(to, &r->key[k]);
		}
		buf_puts(to, "],");
		for (uint32_t k = 0; a->key_name && k < r->nkeys; k++) {
			buf_puts(to, k ? "," : "\"names\":[");
			buf_json_str(to, a->key_name[k], strlen(a->key_name[k]));
			buf_puts(to, k + 1 < r->nkeys ? "" : "],");
		}
		if (a->time)
			buf_printf(to, "\"time\":\"%s\",", a->time);
		if (an_is_hist(a)) {
			json_put_buckets(to, a, r);
		} else {
			value.i = an_agg_value(a, r);
			buf_puts(to, "\"value\":");
			an_decimal(to, &value, 0);
			if (a->fn == AGG_AVG)
				buf_printf(to, ",\"sum\":%lld,\"count\":%lld", (long long)an_normalized(a, r->sum),
					   (long long)r->n);
		}
		buf_puts(to, "}\n");
	}
}
