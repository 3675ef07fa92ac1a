translator info_t < int *P > {
};
/* expect-error 1: D_UNSUPPORTED translators are not supported yet: translator info_t < int * > */
