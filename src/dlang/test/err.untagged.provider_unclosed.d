provider app {
	probe go();
/* expect-error 4: untagged syntax error near end-of-input */
