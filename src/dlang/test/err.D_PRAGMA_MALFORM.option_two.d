#pragma D option quiet quiet
BEGIN { trace(1); }
/* expect-error 1: D_PRAGMA_MALFORM superfluous arguments specified for #pragma option */
