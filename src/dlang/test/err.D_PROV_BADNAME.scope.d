provider a`b { probe go(); };
/* expect-error 1: D_PROV_BADNAME a provider's name may not have a scope: a`b */
