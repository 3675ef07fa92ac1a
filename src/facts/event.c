/*
 * event.c: the tables of CPU events, from their .def files.
 */
#include <stddef.h>
#include <string.h>

#include "base/base.h"
#include "facts/event.h"

static const struct event events[] = {
#define ALIAS(name, of) { #name, NULL, of, EVENT_HW, true, 0, 0, 0, "another name of " of },
#define EVENT(name, perf, number, text) { #name, perf, NULL, EVENT_HW, false, 0, EVENT_TYPE_HW, number, text },
#include "facts/event_hw.def"
#undef EVENT
#undef ALIAS
#define ALIAS(name, of) { #name, NULL, of, EVENT_SW, true, 0, 0, 0, "another name of " of },
#define EVENT(name, perf, number, flags, text) \
	{ #name, perf, NULL, EVENT_SW, false, flags, EVENT_TYPE_SW, number, text },
#include "facts/event_sw.def"
#undef EVENT
#undef ALIAS
#define CODE(cache, op, result) (CACHE_##cache | CACHE_##op << 8 | CACHE_##result << 16)
#define EVENT(name, perf, cache, op, result, text) \
	{ #name, perf, NULL, EVENT_CACHE, false, 0, EVENT_TYPE_CACHE, CODE(cache, op, result), text },
#include "facts/event_cache.def"
#undef EVENT
#undef CODE
#define EVENT(name, of, text) { #name, NULL, of, EVENT_PRESET, false, 0, 0, 0, text },
#include "facts/event_papi.def"
#undef EVENT
};

static const struct event_preset presets[] = {
#define PRESET(preset, pmu, event) { #preset, pmu, event },
#define PRESET_SYSFS(preset, event) { #preset, "", event },
#include "facts/event_preset.def"
#undef PRESET_SYSFS
#undef PRESET
};

const struct event *event_at(uint32_t i)
{
	return i < COUNT(events) ? &events[i] : NULL;
}

const struct event *event_find(const char *name)
{
	for (size_t i = 0; i < COUNT(events); i++)
		if (!strcmp(events[i].name, name))
			return &events[i];
	return NULL;
}

const struct event *event_real(const struct event *ev)
{
	if (ev->of)
		return event_find(ev->of);
	return ev->kind == EVENT_PRESET ? NULL : ev;
}

bool event_is_clock(uint32_t type, uint64_t config)
{
	const struct event *ev;

	for (uint32_t i = 0; (ev = event_at(i)); i++)
		if (ev->flags & EVENT_CLOCK && ev->type == type && ev->config == config)
			return true;
	return false;
}

const struct event_preset *event_preset_at(uint32_t i)
{
	return i < COUNT(presets) ? &presets[i] : NULL;
}

const struct event_pmu *event_pmu_of(const char *name)
{
	static const struct event_pmu rows[] = {
#define PMU(prefix, tells, how) { prefix, tells, how },
#include "facts/event_pmu.def"
#undef PMU
	};
	uint32_t i = 0;

	/* the last row's prefix is empty: it begins each name */
	while (strncmp(name, rows[i].prefix, strlen(rows[i].prefix)))
		i++;
	return &rows[i];
}
