/*
 * doctor.c: what this machine lets tally do, before a program relies on it.
 *
 *	cc doctor.c -ltally && ./a.out
 *
 * Exit status: 0 where D probes over perf events and BPF run, else 1.
 */
#include <stdio.h>
#include <tally/doctor.h>

static void show(void *arg, const struct tally_finding *f)
{
	unsigned *less = arg;

	if (f->verdict == TALLY_IS_OK)
		return;
	++*less;
	printf("%s: %s\n", f->title, *f->consequence ? f->consequence : f->found);
	if (*f->fix)
		printf("  mended by: %s\n", f->fix);
	else if (*f->instead)
		printf("  instead: %s\n", f->instead);
}

int main(void)
{
	unsigned less = 0;
	struct tally_doctor_opts opts = { .size = sizeof(opts), .each = show, .arg = &less };
	int rc = tally_doctor(&opts);

	printf("%u finding(s) are not ok; D probes over perf events and BPF: %s\n", less,
	       rc < 0 ? tally_strerror(rc) : "they run");
	return rc < 0;
}
