provider app {
	probe go(int, string what) : (int, string);
	probe stop();
	probe sent(conn_t *, struct packet *) : (conninfo_t *);
};
/* expect-error 1: D_UNSUPPORTED provider definitions are not supported yet: provider app */
