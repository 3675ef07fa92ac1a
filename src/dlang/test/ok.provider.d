/* ASSERT: integers, texts and pointers become each other, as do types of a header that the script has not. */
provider app {
	probe go(int, char *, foo_t *p, void *q) : (short, string s, bar_t *p, int *q);
	probe stop();
};
provider app {
	probe stop();
	probe go(int, char *, foo_t *p, void *q) : (short, string s, bar_t *p, int *q);
};
BEGIN { trace(1); }
