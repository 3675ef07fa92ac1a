#!/usr/bin/env bats
# What a terminal gets to see: script(1) is one.
load common

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  command -v script >/dev/null || skip "no script(1) to make a terminal"
  TALLY=$(realpath "$TALLY")
}

EVIL=$'e\033[31m\a\302\233x'
SHOWN='e\x1b[31m\x07\xc2\x9bx'

# on_terminal COMMAND...: what it writes to a terminal, in one line that cat -v has made harmless.
# script runs the command by $SHELL, and only bash knows the quotes of its own printf %q.
on_terminal() { SHELL=/bin/bash script -qec "$(printf '%q ' "$@")" /dev/null </dev/null | tr -d '\r' | tr '\n' '~' | cat -v; }

# obeys TEXT: whether a terminal would find an order in it (as cat -v shows it).
obeys() { [[ "$1" == *'^['* || "$1" == *'^G'* || "$1" == *'M-^['* ]]; }

@test "ESC, BEL and CSI of a process's name reach no terminal through printf, printa, trace or an aggregation" {
  needs_bpf
  ln -s "$TALLY" "./$EVIL"
  said=$(on_terminal "./$EVIL" trace -qn 'BEGIN { printf("<%s|%-20s>\n", execname, execname); @a[execname] = count(); printa("<%s>\n", @a);
    printf("<%c>", 27); trace(execname); @b[execname] = count(); exit(0); }')
  echo "$said"
  ! obeys "$said" || return 1
  [[ "$said" == *"<$SHOWN|$SHOWN"*"<$SHOWN>"*'<\x1b>'* ]]
}

@test "control bytes of any string are shown on a terminal: those of the script's own formats pass, and newline and tab" {
  said=$(on_terminal "$TALLY" trace --on vm -qn 'BEGIN { printf("\033[1m%s\t%s\n", $$1, "a\tb\n"); exit(0); }' "$EVIL")
  [ "$said" = "^[[1m$SHOWN"$'\t'"a"$'\t'"b~~~" ] || { echo "$said"; return 1; }
}

@test "-x rawctl hands control bytes of strings to a terminal; a pipe and a file get them as they are" {
  clause='BEGIN { printf("%s", $$1); exit(0); }'
  said=$(on_terminal "$TALLY" trace --on vm -x rawctl -qn "$clause" "$EVIL")
  obeys "$said"
  [ "$("$TALLY" trace --on vm -qn "$clause" "$EVIL")" = "$EVIL" ]
  "$TALLY" trace --on vm -o file -qn "$clause" "$EVIL"
  [ "$(cat file)" = "$EVIL" ]
}

@test "JSON on a terminal has no control byte, of C1 neither" {
  said=$(on_terminal "$TALLY" trace --on vm --json -n 'BEGIN { trace($$1); exit(0); }' "$EVIL")
  [[ "$said" == *'e\u001b[31m\u0007\u009bx'* ]] || { echo "$said"; return 1; }
  ! obeys "$said" || return 1
}

@test "tables on a terminal give it no orders but their own colours" {
  said=$(on_terminal "$TALLY" list -x $'\033' --on kunpeng ptt)
  ! obeys "$said" || return 1
  [[ "$said" == *'\x1b'* ]] || { echo "$said"; return 1; }
  said=$(on_terminal "$TALLY" stat --on power --view partitions --count 1)
  [[ "$said" == *'^[[3'*'^[[0m'* && "$said" != *'\x1b'* ]] || { echo "$said"; return 1; }
}
