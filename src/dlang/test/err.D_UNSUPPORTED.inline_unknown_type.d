inline psinfo_t *cur =
	xlate <psinfo_t *> (curthread);
/* expect-error 1: D_UNSUPPORTED inline definitions are not supported yet: inline cur */
