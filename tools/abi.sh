#!/bin/sh
# abi.sh [-w] [LIBRARY] - compares what libtally.so promises with src/libtally.abi (functions, types, symbol versions) and with
# src/libtally.constants (the values of enumerators and macros, which a program has inside).
#
# Exit 0: the same; 1: it differs, and how is printed; 2: abigail-tools are not here, or this is not amd64, of which the
# file tells.  -w writes the files anew (`make abi`): a change of them in a commit says that the promise has changed.
# A type is part of it where its source file is an installed header. The file's name alone does not tell, which is what abidw's
# --headers-dir asks: src/platform/platform.h is called as an installed one is.  What is built now is written down
# as the file was, and the two are compared.
set -eu
cd "$(dirname "$0")/.."
write=
[ "${1:-}" != -w ] || { write=1; shift; }
library=${1:-build/libtally.so.0}
file=src/libtally.abi constants=src/libtally.constants
command -v abidw >/dev/null && command -v abidiff >/dev/null || { echo "abi.sh: no abidw and abidiff: install abigail-tools" >&2; exit 2; }
case $(readelf -h "$library" | sed -n 's/^ *Machine: *//p') in *X86-64*) ;; *) echo "abi.sh: $file tells of amd64" >&2; exit 2 ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

printf '[suppress_type]\n  source_location_not_regexp = include/tally/\n  drop = yes\n' >"$work/private"
abidw --suppressions "$work/private" --exported-interfaces-only --no-show-locs --no-corpus-path --no-comp-dir-path \
  --no-write-default-sizes --no-elf-needed --out-file "$work/now" "$library"

(cd include && printf '#include <%s>\n' tally/*.h) >"$work/all.h"
compile() { cc -Iinclude "$@"; }
{
  compile -E -dM "$work/all.h" | sed -n 's/^#define \(TALLY_[A-Z0-9_]*\) ..*/\1/p' | grep -vx TALLY_API
  compile -E -P "$work/all.h" | tr '\n' ' ' | grep -o 'enum [^{;]*{[^}]*}' | grep -oE 'TALLY_[A-Z0-9_]+'
} | sort -u >"$work/names"
{
  cat "$work/all.h"
  echo '#include <stdio.h>'
  echo 'int main(void) {'
  sed 's/.*/printf("%s %lld\\n", "&", (long long)(&));/' "$work/names"
  echo '}'
} >"$work/values.c"
compile -o "$work/values" "$work/values.c"
"$work/values" >"$work/constants"

if [ -n "$write" ]; then
  cp "$work/now" "$file"
  cp "$work/constants" "$constants"
  exit 0
fi
bad=0
abidiff --harmless "$file" "$work/now" || bad=1
diff "$constants" "$work/constants" || bad=1
[ $bad -eq 0 ] || echo "abi.sh: the promise of $library is not that of $file and $constants; where that is meant: make abi" >&2
exit $bad
