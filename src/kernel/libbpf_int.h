/*
 * libbpf_int.h: libbpf's <bpf/bpf.h>, which our own room bpf/ would hide:
 * the search goes on behind the folder in which this file was found.
 */
#ifndef TALLY_KERNEL_LIBBPF_INT_H
#define TALLY_KERNEL_LIBBPF_INT_H

#include_next <bpf/bpf.h>

#endif
