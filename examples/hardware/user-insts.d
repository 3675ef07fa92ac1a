#!/usr/bin/env -S tally trace -s
/* Instructions executed by applications: the ten programs that execute most. */
cpc:::PAPI_tot_ins-user-10000000
{
	@[execname] = count();
}

END
{
	trunc(@, 10);
}
