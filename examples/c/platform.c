/*
 * platform.c: set a tunable of a PCIe trace device, and record what the device sees.
 *
 *	cc platform.c -ltally && ./a.out trace.data [local]
 *
 * Without a second argument it is the model: 2 ms of its traffic, whatever hardware is here.
 */
#include <inttypes.h>
#include <stdio.h>
#include <tally/platform.h>

static int show(void *arg, const char *text, size_t n)
{
	(void)arg;
	return fwrite(text, 1, n, stdout) == n ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct tally_platform_opts opts = { .size = sizeof(opts), .on = argc > 2 ? argv[2] : "kunpeng,load=nvme" };
	struct tally_record_opts record = { .size = sizeof(record),
					    .event = "hisi_ptt0_2/filter=0x80001,type=7,direction=2,format=1/",
					    .path = argc > 1 ? argv[1] : "trace.data",
					    .duration_ns = 2000000 };
	struct tally_record_result got = { .size = sizeof(got) };
	struct tally_out to = { .size = sizeof(to), .out = show, .format = TALLY_FORMAT_CSV };
	struct tally_platform *p = NULL;
	int rc = tally_platform_open(&p, &opts);

	if (rc == 0)
		rc = tally_set(p, "hisi_ptt0_2/qos_tx_cpl=2");
	if (rc == 0)
		rc = tally_get(p, "hisi_ptt0_2/qos_tx_cpl", &to);
	if (rc == 0)
		rc = tally_record(p, &record, &got);
	if (rc == 0)
		printf("%s: %" PRIu64 " records, %" PRIu64 " lost\n", record.path, got.records, got.lost);
	else
		fprintf(stderr, "platform: %s\n", p ? tally_platform_error(p) : tally_strerror(rc));
	tally_platform_close(p);
	return rc != 0;
}
