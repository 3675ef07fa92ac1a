/* cg_self_test.c: which variables of a thread lie in the storage of the thread, and which in a hash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/bpf.h"

static const struct syscall_row call = { "first", { 7, 8, 9 }, "" };
static const struct bpf_probe probes[] = {
	{ .id = 1, .cls = IMG_TEST, .prov = "dtrace", .mod = "", .func = "", .name = "BEGIN" },
	{ .id = 2, .cls = IMG_TEST, .prov = "dtrace", .mod = "", .func = "", .name = "ERROR" },
	{ .id = 3, .cls = IMG_ENTRY, .prov = "syscall", .mod = "", .func = "first", .name = "entry", .call = &call },
	{ .id = 4, .cls = IMG_PERF, .prov = "cpc", .mod = "", .func = "", .name = "event" },
};
enum { WITHOUT_EVENTS = 3, ALL = COUNT(probes), ROOM = 1 << 20 };

static int resolve(void *arg, const struct d_probedesc *d, int (*add)(void *, uint32_t), void *add_arg, struct err *e)
{
	int found = 0;

	(void)arg, (void)e;
	for (size_t i = 0; i < COUNT(probes); i++)
		if (!strcmp(d->name, probes[i].name))
			found += add(add_arg, probes[i].id) >= 0;
	return found;
}

static const struct img_map *map_of(const struct bpf_image *img, uint8_t use)
{
	for (uint32_t i = 0; i < img->nmaps; i++)
		if (img->map[i].use == use)
			return &img->map[i];
	return NULL;
}

/* So many bytes are in the storage, and so many variables in hashes. */
static void variables_lie(const char *text, uint32_t nprobes, uint32_t room, uint32_t stored, uint32_t hashes)
{
	const struct bpf_opts o = { .arch = &bpf_arch_x86_64,
				    .probe = probes,
				    .nprobes = nprobes,
				    .error_probe = 2,
				    .ring_bytes = 4096,
				    .control_bytes = 4096,
				    .agg_entries = 16,
				    .dynvar_bytes = room };
	const struct d_env env = { .probes = resolve, .strsize = 256 };
	const struct d_program *p;
	struct err e = { 0 }, why = { 0 };
	struct bpf_image *img;
	struct d_unit *u;
	uint32_t n = 0;

	if (d_open(&u, &env) < 0 || d_source(u, NULL, text, strlen(text), &e) < 0 || d_compile(u, &p, &e, &why) < 0 ||
	    bpf_generate(p, &o, &img, &e) < 0)
		fail_msg("%s: %s", text, e.text);
	for (uint32_t i = 0; i < img->nmaps; i++)
		n += img->map[i].use == IMG_VAR;
	if ((map_of(img, IMG_SELF) ? map_of(img, IMG_SELF)->value_size : 0) != stored || n != hashes)
		fail_msg("%s: %u bytes, %u hashes", text, map_of(img, IMG_SELF) ? map_of(img, IMG_SELF)->value_size : 0,
			 n);
	bpf_image_free(img);
	d_close(u);
}

static void variables_of_system_calls_lie_in_the_storage_of_the_thread(void **state)
{
	(void)state;
	variables_lie(":::entry { self->a = arg0; self->b = 1; }", WITHOUT_EVENTS, ROOM, 16, 0);
	variables_lie(":::BEGIN { self->a = 1; } :::entry { self->b = self->a; }", WITHOUT_EVENTS, ROOM, 16, 0);
	variables_lie("struct s { int a[4]; }; self struct s s; :::entry { self->s.a[1] = 1; }", WITHOUT_EVENTS, ROOM,
		      16, 0);
	variables_lie(":::entry { self->a = 1 / arg0; } ERROR { self->n++; }", WITHOUT_EVENTS, ROOM, 16, 0);
}

static void variables_that_events_use_too_lie_in_a_hash(void **state)
{
	(void)state;
	variables_lie(":::entry { self->a = arg0; self->b = 1; } :::event { self->b = 0; }", ALL, ROOM, 8, 1);
	variables_lie(":::event { self->a = 1; }", ALL, ROOM, 0, 1);
	variables_lie(":::entry { self->a = 1; } :::event { b = 1 / arg0; } ERROR { self->n++; }", ALL, ROOM, 8, 1);
	variables_lie(":::BEGIN { self->a = 1; }", WITHOUT_EVENTS, ROOM, 0, 1);
}

static void variables_that_do_not_fit_lie_in_a_hash(void **state)
{
	(void)state;
	variables_lie(":::entry { self->s = probename; }", WITHOUT_EVENTS, ROOM, 0, 1);
	variables_lie(":::entry { self->k[arg0] = 1; }", WITHOUT_EVENTS, ROOM, 0, 1);
	variables_lie("struct s { char a[65]; }; self struct s s; :::entry { self->s.a[1] = 1; }", WITHOUT_EVENTS, ROOM,
		      0, 1);
	/* what dynvarsize bounds stays bounded */
	variables_lie(":::entry { self->a = arg0; }", WITHOUT_EVENTS, 1024, 0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_of_system_calls_lie_in_the_storage_of_the_thread),
		cmocka_unit_test(variables_that_events_use_too_lie_in_a_hash),
		cmocka_unit_test(variables_that_do_not_fit_lie_in_a_hash),
	};

	return cmocka_run_group_tests_name("thread-local variables", tests, NULL, NULL);
}
