/* no program */
/* expect-error 3: D_EMPTY empty D program translation unit */
