#!/bin/sh
# headers.sh COMPILER FLAG... - every header of src/ and include/ compiles alone, so none leans on what
# its includer happened to include before it.  Prints the compiler's words and exits 1 when one does not.
set -eu
bad=0
for h in include/tally/*.h src/*/*.h; do
  "$@" -fsyntax-only -Wno-unused -x c -include "$h" /dev/null || bad=1
done
exit $bad
