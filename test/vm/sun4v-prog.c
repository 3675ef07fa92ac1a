/* sun4v-prog.c - a program whose references are known: sun4v-prog SWEEPS ELEMENTS.  A sweep loads each element of 8
 * bytes twice and stores it once. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	const long sweeps = argc > 1 ? atol(argv[1]) : 1, n = argc > 2 ? atol(argv[2]) : 1;
	volatile long *a = aligned_alloc(8192, (size_t)n * sizeof(*a));
	long sum = 0;

	for (long i = 0; a && i < n; i++)
		a[i] = i;
	for (long k = 0; a && k < sweeps; k++)
		for (long i = 0; i < n; i++) {
			a[i] = a[i] + k;
			sum += a[i];
		}
	printf("%ld\n", sum);
	free((void *)a);
	return 0;
}
