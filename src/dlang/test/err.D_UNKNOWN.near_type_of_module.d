/* with kernel */
BEGIN { trace((vmlinux`kuid_tt)1); }
/* expect-error 2: D_UNKNOWN failed to resolve type vmlinux`kuid_tt: Unknown type name; did you mean kuid_t? */
