BEGIN { trace(1); }
cpc:::cycels-all-10000
{
	@ = count();
}
/* expect-error 2: D_PDESC_ZERO probe description cpc:::cycels-all-10000 does not match any probes */
