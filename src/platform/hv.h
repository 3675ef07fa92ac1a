/*
 * hv.h: the transport of a handle to its hypervisor, and what may be asked through it.
 */
#ifndef TALLY_PLATFORM_HV_H
#define TALLY_PLATFORM_HV_H

#include "hv/gpci_guest.h"
#include "hv/sun4v_guest.h"
#include "platform/platform.h"

/* Opens it once. -TALLY_ENOTSUP: what --on names has no hypervisor; the words name a model that has. Errors are in
 * p->err. */
int hv_transport_of(struct tally_platform *p, struct hv_transport **ret);
/* And the guest of a sun4v machine; what: "vfalls" or "mmustat". */
int hv_client_of(struct tally_platform *p, const char *what, struct sun4v_client **ret);
/* The same, of a POWER machine: -TALLY_ENOTSUP for others. */
int hv_power_of(struct tally_platform *p, struct hv_transport **ret);
/* Words of a library below become the handle's. */
int hv_failed(struct tally_platform *p, int rc, const struct err *e);
/* Nanoseconds of the platform's own time. */
uint64_t hv_now(const struct hv_transport *t);
/* Whether hv_now() had an answer: counters in our own memory are read without asking anybody. */
int hv_is_there(struct tally_platform *p, const struct hv_transport *t);
/* So much of it passes: of a model as fast as it goes, else by waiting. *stop ends it: 1. */
int hv_pass(struct hv_transport *t, uint64_t ns, const volatile int *stop);
/* What machine this is, with its events; NULL: an event's being modelled is not known. */
const struct sun4v_kind *hv_kind(const struct tally_platform *p, const struct hv_transport *t);

#endif
