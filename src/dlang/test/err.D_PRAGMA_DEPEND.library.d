#pragma D depends_on provider cpc
#pragma D depends_on library nosuch.d
BEGIN { exit(0); }
/* expect-error 2: D_PRAGMA_DEPEND program requires library nosuch.d */
