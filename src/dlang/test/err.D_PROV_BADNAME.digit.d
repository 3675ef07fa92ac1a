provider app2 { probe go(); };
/* expect-error 1: D_PROV_BADNAME a provider's name may not end with a digit, since the process id stands behind it: app2 */
