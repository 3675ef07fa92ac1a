struct s { vmlinux`u64 a; };
/* expect-error 1: D_UNSUPPORTED kernel types are not supported yet: vmlinux`u64 */
