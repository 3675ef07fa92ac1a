# lib.sh - sourced by gpci.sh and sun4v.sh: verdicts in TAP, and a QEMU that is not installed.
#
# $title and $limit (seconds) are the caller's; results are in $n and $bad (tap.sh).  $store and $host (gpci-host or sun4v-host under
# it) say where QEMU is, and $build where tally-qemu.so is.
. test/vm/tap.sh
skip() { printf '1..1\nok 1 - %s # SKIP %s\n' "$title" "$*"; exit 0; }
die() { printf 'not ok - %s\n' "$*"; exit 1; }

part() { echo "# ---- $*"; }

# Lines "VERDICT WORDS", and "# WORDS" for details.
verdicts() {
  local verdict words
  while read -r verdict words; do
    case $verdict in
    '#') echo "#   $words" ;;
    *) check "$verdict" "$words" ;;
    esac
  done
}

# A program of Debian's with its own C library.
hosted() { # HOST PROGRAM ARGUMENT...
  local root=$store/$1 lib=lib/x86_64-linux-gnu loader
  loader=$root/usr/$lib/ld-linux-x86-64.so.2
  [ -e "$loader" ] || loader=$root/$lib/ld-linux-x86-64.so.2   # /usr was not all there was
  timeout -k 5 "$limit" "$loader" --library-path "$root/usr/$lib:$root/$lib" "$root/usr/bin/$2" "${@:3}" </dev/null
}
plugin() { echo "file=$build/tally-qemu.so$([ $# -eq 0 ] || printf ',%s' "$@")"; } # ARGUMENT...

# A word that is wrong, and what QEMU's user sees.
refused() { # WORDS ARGUMENT...
  local words=$1 said
  shift
  said=$(qemu -plugin "$(plugin "$@")" -S 2>&1)
  grep -qF "tally-qemu.so: $words" <<<"$said"
  check $? "refused: $words" "$said"
}

# Waits at most 10 s for a line of a file.
until_said() { # PATTERN FILE
  for _ in {1..100}; do
    ! grep -q "$1" "$2" 2>/dev/null || return 0
    sleep 0.1
  done
  return 1
}
