provider app {
	probe go();
/* expect-error 4: D_SYNTAX syntax error near end-of-input; the "{" of line 1 has no "}" */
