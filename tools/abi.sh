#!/bin/sh
# abi.sh [-w] [LIBRARY] - compares what libtally.so promises (functions, types, symbol versions) with src/libtally.abi.
#
# Exit 0: the same; 1: it differs, and how is printed; 2: abigail-tools are not here, or this is not amd64, of which the
# file tells.  -w writes the file anew (`make abi`): a change of it in a commit says that the promise has changed.
# Types that no installed header defines are left out, so the file follows the headers and not the library's inside.
set -eu
cd "$(dirname "$0")/.."
write=
[ "${1:-}" != -w ] || { write=1; shift; }
library=${1:-build/libtally.so.0}
file=src/libtally.abi
command -v abidw >/dev/null && command -v abidiff >/dev/null || { echo "abi.sh: no abidw and abidiff: install abigail-tools" >&2; exit 2; }
case $(readelf -h "$library" | sed -n 's/^ *Machine: *//p') in *X86-64*) ;; *) echo "abi.sh: $file tells of amd64" >&2; exit 2 ;; esac
if [ -n "$write" ]; then
  abidw --headers-dir include/tally --drop-private-types --exported-interfaces-only --no-show-locs --no-corpus-path \
    --no-comp-dir-path --no-write-default-sizes --no-elf-needed --out-file "$file" "$library"
elif ! abidiff --headers-dir2 include/tally --drop-private-types "$file" "$library"; then
  echo "abi.sh: the promise of $library is not that of $file; where that is meant: make abi" >&2
  exit 1
fi
