#!/bin/bash
# static.sh - speaks TAP: the program of `make static` is one file that needs no other, and refuses in words what it would load.
#
# It runs in a directory that holds nothing else (chroot, as root).  Linux 6.1 runs its arm64 sister: test/vm/run.sh.
set -u
cd "$(dirname "$0")/.." || exit 1
n=0 bad=0 tally=$PWD/build/static/tally
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
say() { # STATUS WORDS
  n=$((n + 1))
  if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; tail -n 20 "$work/log" | sed 's/^/# /'; bad=1; fi
}
skip() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; }
refuses() { # WORDS COMMAND...: status 3, and that a static program loads nothing
  local words=$1 status=0
  shift
  (cd "$work" && "$tally" "$@") >"$work/log" 2>&1 </dev/null || status=$?
  [ $status -eq 3 ] && grep -q 'static program and loads no libraries' "$work/log"
  say $? "$words is refused, and the words say why"
}

make -s -j"$(nproc)" static >"$work/log" 2>&1
say $? "make static builds" || exit 1
[ -x "$tally" ] || { echo "1..$n"; exit 1; }
{ ! readelf -lW "$tally" | grep INTERP && ! readelf -dW "$tally" | grep NEEDED && readelf -hW "$tally" | grep 'Type:.*DYN'; } >"$work/log" 2>&1
say $? "it has no interpreter and needs no library, and is position independent all the same"
! readelf -SW "$tally" | grep -q note.dlopen
say $? "it has no note of libraries that it would open"

event=hisi_ptt0_2/filter=00:10.0,type=p+np+cpl,direction=2/
(cd "$work" && "$tally" record --on kunpeng,load=nvme --duration 2 -o t.data -e $event) >"$work/log" 2>&1
say $? "a trace of the model is recorded"
refuses "SQL" export t.data --sql 'SELECT 1'
printf '\x28\xb5\x2f\xfd\x00\x00\x01\x00\x00' >"$work/t.zst"
refuses "a file compressed with zstd" report t.zst
mkdir "$work/files"
refuses "files through FUSE" machine kunpeng --sysfs files
echo 'BEGIN { @n = count(); }' >"$work/p.d"
refuses "HTTP" serve -s p.d --listen 127.0.0.1:0
refuses "a server of profiles" serve -s p.d --push http://127.0.0.1:1
refuses "an archive" serve -s p.d --archive archive
refuses "a walk by unwind tables" trace -x ustackunwind=dwarf -qn 'BEGIN { exit(0); }'
if command -v sparc64-linux-gnu-gcc >/dev/null; then
  sparc64-linux-gnu-gcc -m64 -mcpu=niagara -mflat -O1 -ffreestanding -fno-pic -fno-stack-protector -nostdlib -static -no-pie \
    -Wl,-n,-Ttext=0x80000000,-e,start,--build-id=none -o "$work/image" examples/guest/niagara.c
  refuses "machine code under Unicorn" machine niagara --run image
else
  skip "machine code under Unicorn is refused, and the words say why" "no compiler for sparc64"
fi
"$tally" doctor --json 2>/dev/null | sed -n 's/.*"key":"\([a-z]*\)".*"cause":"static".*/\1/p' | sort >"$work/log"
[ "$(tr '\n' ' ' <"$work/log")" = "duckdb fuse unicorn unwind " ]
say $? "doctor says of FUSE, libdw, Unicorn and DuckDB that a static program has none"

if [ "$(id -u)" -eq 0 ]; then
  mkdir -p "$work/root/tmp" && cp "$tally" "$work/t.data" "$work/root/"
  empty() { env -i PATH="$PATH" chroot "$work/root" /tally "$@" >"$work/log" 2>&1 </dev/null; }
  empty --version && empty report t.data && empty check gpci --on power && empty trace --on vm -qn 'BEGIN { trace("runs"); exit(0); }' &&
    grep -q runs "$work/log"
  say $? "in a directory that holds nothing else it reads a trace, asks a model, and runs D in its vm"
  mkdir -p "$work/pmu/sys" && cp "$tally" "$work/pmu/" && cp -R test/sysfs/amd/bus "$work/pmu/sys/" &&
    mkdir -p "$work/pmu/sys/devices/system/cpu" && echo 0 >"$work/pmu/sys/devices/system/cpu/online"
  for event in LLC_MISSES PAPI_l2_dcm; do
    status=0
    env -i PATH="$PATH" chroot "$work/pmu" /tally stat -e $event -a --duration 10 >"$work/log" 2>&1 </dev/null || status=$?
    [ $status -eq 3 ] && grep -q "$event.*libpfm4: this tally is a static program and loads no libraries" "$work/log"
    say $? "$event, which libpfm4 knows on a CPU that has a PMU, is refused, and the words say why"
  done
  if "$tally" trace -qn 'BEGIN { exit(0); }' >/dev/null 2>&1; then
    mkdir "$work/root/proc" "$work/root/sys"
    unshare --mount --propagation private sh -c '
      mount --bind /proc "$1/proc" && mount --rbind /sys "$1/sys" &&
        exec env -i PATH="$PATH" chroot "$1" /tally trace -qn "cpc:::cpu_clock-all-99hz { @ = count(); } tick-1s { printa(\"fired\", @); exit(0); }"' \
      sh "$work/root" >"$work/log" 2>&1 && grep -q fired "$work/log"
    say $? "with /proc and /sys it runs D in the kernel"
  else
    skip "with /proc and /sys it runs D in the kernel" "no D program runs in this kernel"
  fi
else
  skip "it runs in a directory that holds nothing else" "chroot needs root"
fi
echo "1..$n"
exit $bad
