provider app {
	probe go;
};
/* expect-error 2: D_SYNTAX syntax error near ";" */
