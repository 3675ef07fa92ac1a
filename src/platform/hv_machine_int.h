/*
 * hv_machine_int.h: a model with its hypervisor service, whose guests others make.
 *
 *	machine_hv.c        guests that come through a server (tally machine --listen)
 *	machine_image.c     a guest that is an image under Unicorn (tally machine --run)
 *	hv_api.c            guests of somebody else's emulator (tally/hv.h)
 */
#ifndef TALLY_PLATFORM_HV_MACHINE_INT_H
#define TALLY_PLATFORM_HV_MACHINE_INT_H

#include "platform/platform.h"

#define HV_GUESTS 64u /* at once */
/* Whether --on's text names such a machine; plat_parse() has gone well. */
bool hv_machine_is(const struct plat_on *on);
/* -TALLY_EINVAL, -TALLY_EIO (its configuration), -TALLY_ENOMEM. */
int hv_machine_open(struct model **ret, const struct plat_on *on, bool idle, struct err *e);

/* `tally machine` of such a machine, as tally_machine_run(); *status: that an image ended with. */
int hv_machine_serve(const struct tally_machine_opts *m, const struct plat_on *on, struct err *e);
int hv_machine_image(const struct tally_machine_opts *m, const struct plat_on *on, int32_t *status, struct err *e);

#endif
