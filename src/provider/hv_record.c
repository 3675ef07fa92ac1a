/*
 * hv_record.c: from what was read to what a program sees.
 */
#include "provider/hv_record.h"

/* The rest stays zero: strings are compared and copied by words. */
static void put_text(char *to, size_t most, const char *text)
{
	memset(to, 0, most);
	memcpy(to, text, strnlen(text, most - 1));
}

static uint64_t record_since(uint64_t now, uint64_t last)
{
	return now < last ? now : now - last;
}

/* ---- gpci ---------------------------------------------------------------------------------- */

static bool is_none(const struct gpci_field *f, uint64_t v)
{
	return f->flags & GPCI_F_NONE && v == UINT64_MAX >> (64 - 8 * f->bytes);
}

static uint64_t field_delta(const struct gpci_field *f, uint64_t now, uint64_t last)
{
	if (is_none(f, now))
		return 0;
	return record_since(now, is_none(f, last) ? 0 : last);
}

static void put_element(struct gpci_context *to, const struct gpci_values *v, uint32_t i)
{
	const struct gpci_element *e = &v->element[i];

	memset(to->domain, 0, sizeof(to->domain));
	to->element = i;
	if (i >= v->nelements)
		return;
	to->domain[0] = e->primary;
	to->domain[1] = e->secondary;
	for (uint32_t k = 0; k < COUNT(e->units); k++)
		to->domain[2 + k] = e->units[k];
}

void gpci_context_fill(struct gpci_context *to, const struct gpci_request *r, uint64_t ns,
		       const struct gpci_values *now, const struct gpci_values *last, uint32_t element)
{
	to->ns = ns;
	to->id = now->id;
	put_element(to, now, element);
	put_text(to->request, sizeof(to->request), r->name);
	for (uint32_t i = 0; i < r->nfields; i++) {
		to->value[i] = now->v[i];
		to->delta[i] = field_delta(&r->field[i], now->v[i], last ? last->v[i] : 0);
	}
}

/* ---- vfalls ---------------------------------------------------------------------------------- */

void vf_context_fill(struct vf_context *to, const struct vf_reg *r, uint64_t ns, uint32_t cpu, uint32_t node,
		     const char *event)
{
	to->ns = ns;
	to->number = r->number;
	to->cpu = cpu;
	to->node = node;
	put_text(to->name, sizeof(to->name), r->name);
	for (char *c = to->name; *c; c++)
		*c = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
	put_text(to->event, sizeof(to->event), event);
}

uint64_t vf_delta(const struct vf_reg *r, uint64_t now, uint64_t last)
{
	const uint64_t half = 0x7fffffff;

	switch ((enum vf_class)r->cls) {
	case VF_MCU_PIC:
		return (((now >> 32) - (last >> 32)) & half) + ((now - last) & half);
	case VF_ZAM_PIC0:
	case VF_ZAM_PIC1:
		return (now - last) & r->mask;
	default:
		return 0;
	}
}

bool vf_selects(const struct vf_reg *r, const char *event, uint32_t *code)
{
	const struct vf_event *e = vf_is_control(r) ? vf_event_find(vf_events_of(r), event) : NULL;

	if (e)
		*code = e->code;
	return e != NULL;
}

/* ---- mmustat ----------------------------------------------------------------------------------- */

void mmustat_context_fill(struct mmustat_context *to, uint32_t slot, uint64_t ns, uint32_t cpu,
			  const struct mmustat *now, const struct mmustat *last)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} size[MMUSTAT_SIZES] = {
		[MMUSTAT_8K] = { "8K", 8u << 10 },
		[MMUSTAT_64K] = { "64K", 64u << 10 },
		[MMUSTAT_4M] = { "4M", 4u << 20 },
		[MMUSTAT_256M] = { "256M", 256u << 20 },
	};
	uint32_t data = slot / MMUSTAT_SIZES / 2, context = slot / MMUSTAT_SIZES % 2, s = slot % MMUSTAT_SIZES;

	to->ns = ns;
	to->cpu = cpu;
	to->bytes = size[s].bytes;
	to->hits = now->at[data][context][s].hits;
	to->ticks = now->at[data][context][s].ticks;
	to->d_hits = record_since(to->hits, last->at[data][context][s].hits);
	to->d_ticks = record_since(to->ticks, last->at[data][context][s].ticks);
	put_text(to->size, sizeof(to->size), size[s].name);
	put_text(to->context, sizeof(to->context), context ? "ctxnon0" : "ctx0");
	put_text(to->side, sizeof(to->side), data ? "D" : "I");
}
