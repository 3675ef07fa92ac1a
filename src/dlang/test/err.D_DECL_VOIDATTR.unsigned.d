BEGIN { x = (unsigned void *)0; }
/* expect-error 1: D_DECL_VOIDATTR invalid type declaration: attributes may not be used with void type */
