#pragma D option nosuch
BEGIN { trace(1); }
/* expect-error 1: D_PRAGMA_OPTSET failed to set option 'nosuch': Invalid option name */
