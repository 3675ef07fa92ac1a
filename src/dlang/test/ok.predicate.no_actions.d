BEGIN
/1/
/* expect-type clause line 1 default */
