BEGIN { trace(curpsinfo->pr_pid); }
/* expect-error 1: D_IDENT_UNDEF failed to resolve curpsinfo: no D library defines it */
