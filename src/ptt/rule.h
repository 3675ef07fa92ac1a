/*
 * rule.h: which events a PTT trace takes, and what a tunable takes.
 *
 * An event is written as perf writes it: "hisi_ptt0_2/filter=0x80001,type=1,
 * direction=1,format=1/".  Profile `spec` follows hisi_ptt.rst to the word and
 * is the default; profile `driver` gives the verdicts of the Linux driver, and
 * warns where the two differ.  Checks are in the driver's order, so both name the
 * same culprit.  Pure: text and lists in, a struct ptt_ask or words out.
 */
#ifndef TALLY_PTT_RULE_H
#define TALLY_PTT_RULE_H

#include "ptt/pmu.h"

enum ptt_profile { PTT_PROFILE_SPEC, PTT_PROFILE_DRIVER };

/* Text to numbers: filter takes a number or names ("0000:00:10.1", "00:10.1", several root ports joined by "+");
 * type takes a number or p, np, cpl joined by "+"; direction a number or in, out, both, both-a ...; format a number or
 * 4dw, 8dw. The device may be left out ("filter=...") when the list has one. -TALLY_EINVAL: words name the term, the
 * cause and what would do. Does not judge the values yet. */
int ptt_ask_parse(struct ptt_ask *ret, const char *text, const struct ptt_pmu *pmu, uint32_t npmus, enum ptt_profile f,
		  struct err *e);
/* Judges. 0; or -TALLY_EINVAL (bad value), with words. `warning` gets what the spec would have refused (driver), or
 * "". The verdicts are a table of doc/spec-ptt.md. */
int ptt_ask_check(const struct ptt_ask *ev, const struct ptt_pmu *pmu, enum ptt_profile f, struct err *e,
		  struct buf *warning);
uint64_t ptt_ask_config(const struct ptt_ask *ev); /* the fields in their places */
void ptt_ask_of_config(struct ptt_ask *ev, uint64_t config);
/* The format of the records, PTT_4DW or PTT_8DW; 0: config is no event's, as it selects no type of packets. */
uint8_t ptt_config_format(uint64_t config);
/* What such an event shows of requests and their completions, as bits of enum ptt_coverage; f: the format that its
 * records have. */
uint8_t ptt_config_coverage(uint64_t config, enum ptt_format f);
void ptt_ask_text(const struct ptt_ask *ev, struct buf *to); /* as perf writes it */
uint32_t ptt_ask_ctrl(const struct ptt_ask *ev);             /* TRACE_CTRL's fields, without EN */

/* What the user wrote for a tunable: 0..65535. spec: any larger number is 65535 (the device makes it 2); driver: above
 * 65535 is refused as kstrtou16 does. Negative, empty, not a number, a blank around it (but for the end of a line
 * behind it): -TALLY_EINVAL. */
int ptt_tune_parse(const char *text, enum ptt_profile f, uint32_t *ret, struct err *e);
/* By name or alias; -TALLY_EINVAL with "did you mean" (qos_tx_dp: qos_tx_p). */
int ptt_tune_find(const char *name, enum ptt_tune *ret, struct err *e);
/* Bytes of the AUX ring for -m TEXT ("16M", "4096K", "33554432"; a power of two as perf wants it; NULL: 16 MiB). spec:
 * from one buffer (4 MiB) up; driver: from 16 MiB up. */
int ptt_ring_parse(const char *text, enum ptt_profile f, size_t *ret, struct err *e);
/* What each direction carries, for list: 4 values of each format; NULL: reserved. */
const char *ptt_direction_text(uint32_t format, uint32_t direction);

#endif
