/* unicorn_int.h: what is used of Unicorn 2's numbers; their own names are in <unicorn/unicorn.h>. */
#ifndef TALLY_ATTACH_UNICORN_INT_H
#define TALLY_ATTACH_UNICORN_INT_H

enum { UCN_PPC = 5, UCN_SPARC = 6 };                /* uc_arch */
enum { UCN_64 = 1 << 3, UCN_BIG_ENDIAN = 1 << 30 }; /* uc_mode; 64: of both */
enum { UCN_HOOK_INTR = 1 << 0 };                    /* uc_hook_type */
enum { UCN_PROT_ALL = 7 };                          /* uc_prot */
/* uc_sparc_reg; the stack pointer is %o6 */
enum { UCN_O0 = 78, UCN_O1, UCN_O2, UCN_O3, UCN_O4, UCN_O5, UCN_O6, UCN_SPARC_PC = 88 };
/* uc_ppc_reg */
enum { UCN_PPC_PC = 1, UCN_R0 = 2, UCN_R31 = UCN_R0 + 31, UCN_MSR = 77 };

#endif
