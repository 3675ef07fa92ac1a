provider app {
	probe go(int a, int b) : (int b, int c);
};
/* expect-error 2: D_SYNTAX probe app:::go has no argument that is called c */
