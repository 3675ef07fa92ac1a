/*
 * fake_kernel.h: the types and symbols of a kernel that exists nowhere, for tests and fuzz targets of the compiler.
 *
 * Its structs have the members that the libraries of lib/tally/d read, so that those compile, and among them what a
 * type can be: bit-fields, unions without a name, flexible arrays, pointers to functions, a struct that is not
 * defined, one that contains a pointer to itself.
 */
#ifndef TALLY_TEST_FAKE_KERNEL_H
#define TALLY_TEST_FAKE_KERNEL_H

#include "dlang/dlang.h"

extern const struct d_ktypes fake_kernel;

#endif
