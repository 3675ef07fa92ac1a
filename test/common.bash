# common.bash - what the tests of the command line share.  $TALLY is the program under test.

TALLY=${TALLY:-$BATS_TEST_DIRNAME/../build/tally}
PROGS=$BATS_TEST_DIRNAME/../build/prog
PATH=$PATH:$BATS_TEST_DIRNAME/../build/prometheus/usr/bin # where check.sh unpacks it

# Each skips, aloud, what can't run without it: loaded BPF programs, the kernel's types, Python.
needs_bpf() { [ "$(id -u)" -eq 0 ] || skip "loading BPF programs needs root here"; }
needs_types() { needs_bpf; [ -r /sys/kernel/btf/vmlinux ] || skip "this kernel tells no types"; }
needs_python() { command -v python3 >/dev/null || skip "no python3"; }

# DuckDB's library, which TALLY_DUCKDB then names.
needs_duckdb() {
  export TALLY_DUCKDB=${TALLY_DUCKDB:-$(ls "$BATS_TEST_DIRNAME/../build/libduckdb.so" "$HOME/.local/lib/libduckdb.so" 2>/dev/null | head -n 1)}
  [ -n "$TALLY_DUCKDB" ] || skip "DuckDB's library is not here: tools/fetch-duckdb.sh build"
}

# Whether a FUSE file system can be mounted here; needs_fuse skips, aloud, where it can't.
can_mount() { [ -w /dev/fuse ] && { [ "$(id -u)" -eq 0 ] || command -v fusermount3 >/dev/null; }; }
needs_fuse() { can_mount || skip "nothing can be mounted: no /dev/fuse, or neither root nor fusermount3"; }

# $loop: a block device that nobody else uses, of 16 MB, the file disk of the test's directory. drop_disk, for a teardown.
make_disk() {
  truncate -s 16M "$BATS_TEST_TMPDIR/disk"
  loop=$(losetup -f --show --direct-io=on "$BATS_TEST_TMPDIR/disk" 2>/dev/null) || skip "no loop device can be made"
}
drop_disk() { [ -z "${loop:-}" ] || losetup -d "$loop"; }

# tally by its name dtrace.
as_dtrace() {
  mkdir -p "$BATS_TEST_TMPDIR/bin"
  ln -sf "$(realpath "$TALLY")" "$BATS_TEST_TMPDIR/bin/dtrace"
  "$BATS_TEST_TMPDIR/bin/dtrace" "$@"
}

# A program in the vm: no privileges, no events.
vm() { "$TALLY" trace --on=vm "$@"; }

# said STATUS TEXT: status and whole output of `run`.
said() {
  [ "$status" -eq "$1" ] || { echo "status $status, not $1: $output"; return 1; }
  [ "$output" = "$2" ] || { diff <(echo "$2") <(echo "$output"); return 1; }
}

# has TEXT: the output of `run` has it in it.
has() { [[ "$output" == *"$1"* ]] || { echo "not in: $output"; return 1; }; }

# calls_are_told N FILE: of so many records "call" each is a line of the file, or one of the drops that `run` printed.
calls_are_told() {
  awk -v made="$1" -v got="$(grep -c '^call$' "$2")" '/^tally: [0-9]+ drops? on CPU/ { lost += $2 }
    END { print got, lost; exit got + lost != made || !got }' <<<"$output" || { echo "$output"; return 1; }
}

# A file that takes all room of its file system; it fails where some is left. FILE
disk_fill() {
  local said
  ! said=$(LC_ALL=C dd if=/dev/zero of="$1" bs=4k 2>&1) && [[ $said == *"No space left on device"* ]] || { echo "$said"; return 1; }
}

# ends_with STATUS PID COMMAND...: the command ends the process, with that status.
ends_with() {
  local status=0
  "${@:3}"
  wait "$2" || status=$?
  [ "$status" -eq "$1" ] || { echo "process $2 ended with status $status, not $1"; return 1; }
}

# leaves_none PID...: what a test may have left running, for its teardown.
leaves_none() {
  local pid
  for pid; do
    kill -9 "$pid" 2>/dev/null || ! kill -0 "$pid" 2>/dev/null || { echo "process $pid can't be ended"; return 1; }
  done
}

# As root: another user reaches files in this test's directory.
let_others_in() {
  local dir
  for dir in "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_SUITE_TMPDIR" "$BATS_TMPDIR" "$BATS_TEST_TMPDIR"; do
    [ ! -d "$dir" ] || chmod a+x "$dir"
  done
}
# Waits until the shell's child runs PROGRAM with its libraries mapped: what is found in a process before its exec is not there after it.
until_runs() { # PID PROGRAM
  for _ in $(seq 100000); do
    [ "$(readlink "/proc/$1/exe")" != "$2" ] || ! grep -q '/libc[.]' "/proc/$1/maps" || return 0
  done
  return 1
}
