#pragma D options quiet
/* expect-error 1: D_PRAGMA_INVAL invalid D pragma: options */
/* expect-why D has the pragmas attributes, binding, depends_on */
