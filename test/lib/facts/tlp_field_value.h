/* tlp_field_value.h: a field of a decoded packet by its row, for tests that walk all of them. */
#ifndef TEST_FACTS_TLP_FIELD_VALUE_H
#define TEST_FACTS_TLP_FIELD_VALUE_H

#include "facts/tlp.h"

uint64_t tlp_field_value(const struct tlp_field *f, const void *of);

#endif
