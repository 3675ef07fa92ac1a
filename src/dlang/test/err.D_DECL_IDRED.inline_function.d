inline int rand = 7;
/* expect-error 1: D_DECL_IDRED identifier redefined: rand current: inline definition previous: function */
