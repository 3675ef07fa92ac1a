/*
 * plugin.c: what QEMU calls when it loads the plugin: the code of this emulator is opened, and its callbacks handed
 * over.
 *
 *	qemu-system-ppc64      pseries.c
 *	qemu-system-sparc64    sun4v.c
 *	qemu-TARGET            refs.c
 *
 * QEMU asks a plugin for the version of the interface that it is made for before anything else, and takes one out of a
 * range. Version 7 (QEMU 11.1) gives each callback a pointer of the plugin's own, and takes no older plugin.  Programs
 * under older emulators can have their references counted all the same, so what the emulator exports decides which
 * version is ours: 7 where the PC can be set; 2 (QEMU 9.0) where vCPUs are counted by a function of that version; else
 * 1.  QEMU 11.0 can set the PC but has version 6, and refuses.
 *
 * Before version 7 the callback of a translation gets nothing of the plugin's own.  So what an old emulator opened has
 * to be found in one place, `old`; such an emulator loads one tally-qemu.so.
 */
#include <stdio.h>

#include "qemu/qemu_int.h"

#define FOR_QEMU __attribute__((visibility("default")))
FOR_QEMU int qemu_plugin_version = QEMU_API;
FOR_QEMU int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

__attribute__((constructor)) static void choose_version(void)
{
	if (!qemu_plugin_set_pc)
		qemu_plugin_version = qemu_plugin_num_vcpus ? 2 : 1;
}

/* ---- before version 7 ---------------------------------------------------------------------------- */
static struct {
	const struct emulator *emulator;
	void *arg;
} old;

static void old_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	old.emulator->translated(tb, old.arg);
}

static void old_flushed(qemu_plugin_id_t id)
{
	(void)id;
	old.emulator->flushed(old.arg);
}

static void old_ended(qemu_plugin_id_t id, void *arg)
{
	(void)id;
	old.emulator->ended(arg);
}

/* ---- loading ------------------------------------------------------------------------------------- */

static const struct emulator *emulator_of(const qemu_info_t *info)
{
	static const struct emulator *const emulators[] = { &emulator_pseries, &emulator_sun4v, &emulator_refs };

	for (size_t i = 0; i < COUNT(emulators); i++)
		if (emulators[i]->system == info->system_emulation &&
		    (!emulators[i]->target || !strcmp(emulators[i]->target, info->target_name)))
			return emulators[i];
	return NULL;
}

static int emulator_open(const struct emulator **ret, void **arg, const qemu_info_t *info, int argc, char *const *argv,
			 struct err *e)
{
	const struct emulator *d = emulator_of(info);

	if (!d)
		return err_set(e, TALLY_ENOTSUP,
			       "unsupported emulator qemu-system-%s: machines exist for "
			       "qemu-system-ppc64, qemu-system-sparc64 and for programs in user mode",
			       info->target_name);
	if (qemu_plugin_version < d->api)
		return err_set(e, TALLY_ENOTSUP,
			       "answering hypercalls requires version %d of QEMU's plugin interface (QEMU "
			       "11.1); this QEMU has version %d",
			       d->api, info->version.cur);
	*ret = d;
	return d->open(arg, argc, argv, e);
}

static void plugin_register_callbacks(qemu_plugin_id_t id, const struct emulator *d, void *arg)
{
	const bool is_old = qemu_plugin_version < QEMU_API;

	if (is_old) {
		old.emulator = d;
		old.arg = arg;
	} else if (d->vcpu_init) {
		qemu_plugin_register_vcpu_init_cb(id, (qemu_any_cb)d->vcpu_init, arg);
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, is_old ? (qemu_any_cb)old_translated : (qemu_any_cb)d->translated,
					      arg);
	qemu_plugin_register_flush_cb(id, is_old ? (qemu_any_cb)old_flushed : (qemu_any_cb)d->flushed, arg);
	qemu_plugin_register_atexit_cb(id, is_old ? (qemu_any_cb)old_ended : (qemu_any_cb)d->ended, arg);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	const struct emulator *d = NULL;
	struct err e = { 0 };
	void *arg = NULL;

	if (emulator_open(&d, &arg, info, argc, argv, &e) < 0) {
		fprintf(stderr, "tally-qemu.so: %s\n", e.text);
		return 1;
	}
	plugin_register_callbacks(id, d, arg);
	return 0;
}
