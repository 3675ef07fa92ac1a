/* vf_reg_find.c: a performance register by its name, for tests and benchmarks. */
#include "hv/vf_reg_find.h"

#include <string.h>

const struct vf_reg *vf_reg_find(const char *name)
{
	for (uint32_t i = 0; i < VF_REGS; i++)
		if (!strcmp(vf_regs[i].name, name))
			return &vf_regs[i];
	return NULL;
}
