/* shipped.h: the D libraries that tally brings, for tests and fuzz targets of the compiler that run from the project's
 * root. */
#ifndef TALLY_TEST_SHIPPED_H
#define TALLY_TEST_SHIPPED_H

#include "dlang/dlang.h"

/* The i-th of them, read once; false past the last. */
bool shipped_library(uint32_t i, struct d_library *ret);

#endif
