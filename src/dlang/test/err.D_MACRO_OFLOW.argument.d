BEGIN { trace($77); }
/* expect-error 1: D_MACRO_OFLOW macro argument $77 constant 0x12345678123456781 results in integer overflow */
