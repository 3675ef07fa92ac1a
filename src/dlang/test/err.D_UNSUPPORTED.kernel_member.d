struct s { vmlinux`u64 a; };
/* expect-error 1: D_UNSUPPORTED kernel types are not known where this runs: vmlinux`u64 */
