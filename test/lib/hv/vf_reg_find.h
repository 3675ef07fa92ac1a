/* vf_reg_find.h: a performance register by its name, for tests and benchmarks. */
#ifndef TEST_HV_VF_REG_FIND_H
#define TEST_HV_VF_REG_FIND_H

#include "hv/sun4v.h"

/* NULL: there is none. */
const struct vf_reg *vf_reg_find(const char *name);

#endif
