#include <sys/types.h>
BEGIN { trace(1); }
/* expect-error 1: D_PRAGCTL_INVAL invalid control directive: #include */
