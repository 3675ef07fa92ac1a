/*
 * hv_machine_int.h: a model with its hypervisor service, whose guests others make.
 *
 *	hv_machine.c        the machine and its time
 *	machine_hv.c        guests that come through a server (tally machine --listen)
 *	machine_image.c     a guest that is an image under Unicorn (tally machine --run)
 *	hv_api.c            guests of somebody else's emulator (tally/hv.h)
 */
#ifndef TALLY_PLATFORM_HV_MACHINE_INT_H
#define TALLY_PLATFORM_HV_MACHINE_INT_H

#include "platform/platform.h"

struct hv_machine {
	/* set by hv_machine_open(), then read-only */
	const char *name;              /* "batoka" */
	const struct sun4v_kind *kind; /* NULL: POWER */
	struct niagara *niagara;
	struct sun4v *sun4v;
	struct power *power;
	struct papr *papr;
	uint32_t strands; /* sun4v */
	/* since it was opened */
	uint64_t ns;
};
#define HV_GUESTS 64u /* at once */
/* Whether --on's text names such a machine; plat_parse() has gone well. */
bool hv_machine_is(const struct plat_on *on);
/* idle: no load; whoever opened it makes things happen. -TALLY_EINVAL, -TALLY_EIO (its configuration), -TALLY_ENOMEM. */
int hv_machine_open(struct hv_machine **ret, const struct plat_on *on, bool idle, struct err *e);
void hv_machine_close(struct hv_machine *m);            /* NULL is fine; guests are closed before */
void hv_machine_run(struct hv_machine *m, uint64_t ns); /* so much more passes */
uint64_t hv_machine_now(void *m);                       /* ns; of POWER never further than its last whole window */

/* `tally machine` of such a machine, as tally_machine_run(); *status: that an image ended with. */
int hv_machine_serve(const struct tally_machine_opts *m, const struct plat_on *on, struct err *e);
int hv_machine_image(const struct tally_machine_opts *m, const struct plat_on *on, int32_t *status, struct err *e);

#endif
