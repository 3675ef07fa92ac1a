/*
 * session: the conductor.  It brings sources, providers, the code generator,
 * the kernel and the answers together: it implements include/tally/tally.h,
 * keeps aggregations, reads records, and knows the order of a run:
 * BEGIN, enable, run, disable, END.
 */
#ifndef TALLY_SESSION_SESSION_H
#define TALLY_SESSION_SESSION_H

#include <tally/tally.h>

#endif
