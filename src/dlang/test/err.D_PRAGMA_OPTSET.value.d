#pragma D option strsize=many
BEGIN { trace(1); }
/* expect-error 1: D_PRAGMA_OPTSET failed to set option 'strsize' to 'many': Invalid value for specified option */
