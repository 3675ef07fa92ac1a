#pragma D depends_on provider nosuch
BEGIN { exit(0); }
/* expect-error 1: D_PRAGMA_DEPEND program requires provider nosuch */
