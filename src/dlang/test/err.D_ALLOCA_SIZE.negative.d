BEGIN { alloca(-1); }
/* expect-error 1: D_ALLOCA_SIZE alloca(18446744073709551615) size larger than scratchsize 256 */
