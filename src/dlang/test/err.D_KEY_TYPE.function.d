int a[int (*)(int), int (int)];
BEGIN { exit(0); }
/* expect-error 1: D_KEY_TYPE int() may not be used as the key of an associative array */
