enum color { RED };
translator enum color < int T > { };
BEGIN { exit(0); }
/* expect-error 2: D_XLATE_SOU translator output type must be a struct or union */
