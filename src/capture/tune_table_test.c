/* tune_table_test.c: a run of tuning as text, JSON and CSV. */
#include "capture/tune_test_int.h"

static void the_table_has_three_forms(void **state)
{
	struct bench *b = bench_with_a_way();
	struct tally_tune_opts o = bench_opts(b, TALLY_GOAL_THROUGHPUT);

	(void)state;
	start_from(b, (const uint32_t[]){ 2, 2, 1, 2, 2 });
	run_from_first(b, &o, TALLY_FORMAT_TEXT);
	table_looks(b, "hisi_ptt0_2 for throughput: payload per second\n"
		       "\n"
		       "cpl np  p rx tx   n  MiB/s latency answered  spread   change vs best\n"
		       "  2  2  1  2  2  13   2807       0        0   0.0 %   +0.0 %     -   as it was\n"
		       "  0  2  1  2  2   1   2319       0        0   0.0 %  -17.4 % -17.4 % no better\n"
		       "  1  2  1  2  2   1   2563       0        0   0.0 %   -8.7 %  -8.7 % no better\n"
		       "  2  0  1  2  2   1   2807       0        0   0.0 %   +0.0 %  +0.0 % no better\n"
		       "  2  1  1  2  2   1   2807       0        0   0.0 %   +0.0 %  +0.0 % no better\n"
		       "  2  2  2  2  2   1   2685       0        0   0.0 %   -4.3 %  -4.3 % no better\n"
		       "  2  2  0  2  2  13   2929       0        0   0.0 %   +4.3 %  +4.3 % best\n"
		       "  0  2  0  2  2   1   2441       0        0   0.0 %  -13.0 % -16.7 % no better\n"
		       "  1  2  0  2  2   1   2685       0        0   0.0 %   -4.3 %  -8.3 % no better\n"
		       "  2  0  0  2  2   1   2929       0        0   0.0 %   +4.3 %  +0.0 % no better\n"
		       "  2  1  0  2  2   1   2929       0        0   0.0 %   +4.3 %  +0.0 % no better\n"
		       "\n"
		       "change: against what was there. vs best: against the best until then, which the\n"
		       "verdict is about. uncertain: better at first, but by no more than chance gives.\n"
		       "\n"
		       "A setting that does nothing comes out better in one run of 1000 at most.\n"
		       "Set, after 35 measurements: qos_tx_p=0 (was 1)\n");
	run_from_first(b, &o, TALLY_FORMAT_JSON);
	has(&b->out,
	    "{\"type\":\"setting\",\"qos_tx_cpl\":2,\"qos_tx_np\":2,\"qos_tx_p\":0,\"rx_alloc_buf_level\":2,\"tx_alloc_buf_level\":2,"
	    "\"measurements\":13,\"asked_by\":\"devices\",\"mib_per_s\":2929,\"latency_ticks\":0,\"answered\":0,\"records\":1200,"
	    "\"lost\":0,\"spread_permille\":0,\"change_permille\":43,\"against_best_permille\":43,\"verdict\":\"best\"}\n");
	has(&b->out,
	    "{\"type\":\"tuned\",\"device\":\"hisi_ptt0_2\",\"for\":\"throughput\",\"times\":\"absolute\",\"times_sure\":true,\"measurements\":35,"
	    "\"changed\":true,\"qos_tx_cpl\":2,\"qos_tx_np\":2,\"qos_tx_p\":0,\"rx_alloc_buf_level\":2,\"tx_alloc_buf_level\":2,\"wrong_once_in\":1000}\n");
	run_from_first(b, &o, TALLY_FORMAT_CSV);
	has(&b->out,
	    "qos_tx_cpl,qos_tx_np,qos_tx_p,rx_alloc_buf_level,tx_alloc_buf_level,measurements,asked_by,mib_per_s,latency_ticks,"
	    "answered,records,lost,spread_permille,change_permille,against_best_permille,verdict\n2,2,1,2,2,13,devices,2807,0,0,1150,0,0,0,,as it was\n");
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_has_three_forms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
