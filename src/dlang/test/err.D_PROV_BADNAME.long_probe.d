/* ASSERT: two underscores are one character, so the first one fits. */
provider app {
	probe aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa__bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb();
	probe aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa__bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb();
};
/* expect-error 4: D_PROV_BADNAME a probe's name may not exceed 63 characters, and has 64: */
