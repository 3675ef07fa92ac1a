BEGIN { trace(1); }
vmlinux`pid_t *p;
/* expect-error 2: D_UNSUPPORTED kernel types are not known where this runs: vmlinux`pid_t */
