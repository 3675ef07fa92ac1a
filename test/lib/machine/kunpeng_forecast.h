/* kunpeng_forecast.h: the model's arithmetic once more, for tests to hold the model against. */
#ifndef TALLY_TEST_KUNPENG_FORECAST_H
#define TALLY_TEST_KUNPENG_FORECAST_H

#include "machine/machine.h"

/* What arithmetic says of a setting, before anything runs. bytes: payload per microsecond that a
 * core carries in a direction, [outbound], when the load keeps it full with what the arithmetic knows; else 0. */
struct kunpeng_forecast {
	uint64_t bytes[2];
	uint32_t share[3];    /* of outbound packets, in millionths: P, NP, CPL; 0: not always there */
	uint32_t alone_ns[2]; /* what a packet waits that comes alone, [outbound] */
};
/* tuned: values by enum ptt_tune. -TALLY_EINVAL: no such load. */
int kunpeng_forecast(struct kunpeng_forecast *ret, const char *load, const uint8_t tuned[static PTT_TUNES],
		     struct err *e);

#endif
