#!/bin/bash
# unwind.sh - stacks by unwind tables on Linux 6.1, arm64: its verifier, and stacks of test/prog/unframed.c against what the program
# says of them and against libdwfl (unwind-guest.sh); speaks TAP.  Needs `make cross-unwind`.
set -euo pipefail
cd "$(dirname "$0")/../.."
b=build/arm64-loads
test/vm/pmu-vm.sh -t "${GUEST_SECONDS:-600}" -f $b/tally -f $b/prog/unframed -f $b/prog/unwound -f $b/test/symbol_unwind_test -f lib \
  -f test/vm/tap.sh -f test/vm/unwind-guest.sh 'sh unwind-guest.sh'
