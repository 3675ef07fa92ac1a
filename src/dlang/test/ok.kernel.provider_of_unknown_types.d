/* with kernel */
/* ASSERT: a type that only a header has stays unknown beside the types of a kernel. */
provider app {
	probe go(foo_t p, foo_t *q) : (foo_t p, bar_t *q);
};
provider app {
	probe go(foo_t p, foo_t *q) : (foo_t p, bar_t *q);
};
BEGIN { trace(1); }
