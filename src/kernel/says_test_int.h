/* says_test_int.h: an error that has the words a test wants. */
#ifndef TALLY_KERNEL_SAYS_TEST_INT_H
#define TALLY_KERNEL_SAYS_TEST_INT_H

#include <string.h>

#define SAYS(e, words)                                                           \
	do {                                                                     \
		if (!strstr((e).text, words))                                    \
			fail_msg("\"%s\" does not say \"%s\"", (e).text, words); \
	} while (0)

#endif
