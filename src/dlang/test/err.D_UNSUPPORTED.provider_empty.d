BEGIN { trace(1); }
provider app { };
/* expect-error 2: D_UNSUPPORTED provider definitions are not supported yet: provider app */
