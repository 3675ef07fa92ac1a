#!/bin/sh
# format.sh [-c] - writes every C file as .clang-format says; -c: only names those that differ, and exits 1.
#
# Versions of clang-format differ in what they write: only 14, Debian 12's, is taken.  Exit 3: it is not here.
set -eu
cd "$(dirname "$0")/.."
format=
for c in clang-format-14 clang-format; do
  case $("$c" --version 2>/dev/null) in *"version 14."*) format=$c; break ;; esac
done
[ -n "$format" ] || { echo "format.sh: no clang-format 14" >&2; exit 3; }
files=$(git ls-files '*.c' '*.h')
case ${1:-} in
'') "$format" -i $files ;;
-c)
  "$format" --dry-run -Werror $files 2>/dev/null && exit 0
  for f in $files; do "$format" "$f" | cmp -s - "$f" || echo "$f"; done
  echo "format.sh: these differ from .clang-format: make format" >&2
  exit 1
  ;;
*) sed -n '2s/^# //p' "$0" >&2; exit 2 ;;
esac
