provider app {
	probe go(int) : ;
};
/* expect-error 2: D_SYNTAX syntax error near ";" */
