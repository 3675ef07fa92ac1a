#!/bin/bash
# disks: answers and recordings onto full disks and into files that may not grow.
#
# SECONDS SEED ROUND DIR, as torture.h has it.  A round writes what a verb answers to a small tmpfs of its own (as root), under
# RLIMIT_FSIZE, or to /dev/full, with a limit below what the answer needs: the status must be 1, the words name the file and say
# "No space left on device" or "File too large".  With a limit above it, it is all there.  record keeps the file that was there before as FILE.old.
set -u
seconds=$1 seed=$2 only=$3 dir=$4
if [ "$(id -u)" -eq 0 ] && [ "${5:-}" != inside ]; then
  # Mounts end with the last process in here, whatever ends it.
  unshare -m true 2>/dev/null && exec unshare -m --propagation private "$0" "$@" inside
fi
disk=
[ "$(id -u)" -eq 0 ] && mkdir -p "$dir/probe" && mount -t tmpfs -o size=64k none "$dir/probe" 2>/dev/null && disk=1 && umount "$dir/probe"
end=$((SECONDS + seconds))
n=0 full=0 whole=0 fell=0
fell() { fell=$((fell + 1)); echo "fell $n $*"; }

mkdir -p "$dir/out"
event=hisi_ptt0_2/filter=0x80001,type=7,direction=2/
"$TALLY" record --on kunpeng --duration 3 -e $event -o "$dir/trace" 2>/dev/null || { echo "fell 0 no trace can be recorded"; exit 1; }

# Writers: the words of a verb, with FILE for what it writes; - in front: it writes to stdout.
writers=(
  "export -o FILE.csv $dir/trace" "export -o FILE.json $dir/trace" "-export $dir/trace"
  "report -o FILE.html $dir/trace" "report -o FILE.json $dir/trace" "-report $dir/trace"
  "dump -o FILE.csv $dir/trace" "dump -o FILE.json $dir/trace" "-dump $dir/trace"
  "record --on kunpeng --duration 3 -e $event -o FILE" "-record --on kunpeng --duration 3 -e $event -o -"
  "trace -q --on $dir/trace -o FILE -s $dir/script.d" "-trace -q --on $dir/trace -s $dir/script.d"
  "stat --view partitions --on power --count 20 -o FILE.csv" "-stat --view partitions --on power --count 20"
  "-list gpci --on power" "-list ptt --on kunpeng" "-help" "-trace -h" "-completion bash"
)
cat >"$dir/script.d" <<'D'
ptt:::tlp { printf("%s %d\n", args[0]->name, args[0]->bytes); @[args[0]->name] = count(); }
D

# run LIMIT: the writer with its file at $file; LIMIT KiB for files, or nothing.
run() {
  local words=${words//FILE/$file} out=/dev/null
  [ -n "$stdout" ] && out=$file
  ( [ -z "$1" ] || ulimit -f "$1"; exec timeout -k 1 20 "$TALLY" $words >"$out" 2>"$dir/err" </dev/null )
}
written() { ls -1 "$file"* 2>/dev/null | grep -v '\.old$' | head -n 1; }

while :; do
  n=$((n + 1))
  [ "$only" -ne 0 ] && n=$only
  RANDOM=$(((seed * 31 + n * 7919) % 32768))
  : $RANDOM
  words=${writers[RANDOM % ${#writers[@]}]} stdout=
  [ "${words#-}" = "$words" ] || { stdout=1 words=${words#-}; }
  # What it needs, in bytes; the model records alike for one seed.
  rm -rf "$dir/out"/*
  file=$dir/out/o
  run "" || fell "status $? without any limit: $words: $(head -n 1 "$dir/err")"
  need=$(stat -c %s "$(written)" 2>/dev/null || echo 0)
  rm -rf "$dir/out"/*
  how=$((RANDOM % 4)) small=$((RANDOM % 5)) limit=
  [ $how -lt 2 ] && [ -z "$disk" ] && how=2
  kib=$(((need + 1023) / 1024))
  case $how in
    0 | 1)
      # A page of tmpfs is 4 KiB, and its directory has one; what is too small is at least a page short.
      pages=$(((need + 4095) / 4096))
      [ $small -gt 0 ] && [ $pages -lt 2 ] && small=0
      [ $small -gt 0 ] && pages=$((1 + RANDOM % (pages - 1))) || pages=$((pages + 16))
      mount -t tmpfs -o "size=$((pages * 4))k" none "$dir/out" || { fell "no tmpfs"; break; } ;;
    2)
      [ $small -gt 0 ] && [ $kib -lt 2 ] && small=0
      [ $small -gt 0 ] && limit=$((1 + RANDOM % (kib - 1))) || limit=$((kib + 16)) ;;
    3) small=1 file=/dev/full words=$(sed 's/FILE\.[a-z]*/FILE/' <<<"$words") ;;
  esac
  old=
  if [[ $words == record*FILE* && $how -eq 2 ]]; then old=1; echo precious >"$file"; fi
  run "$limit"
  status=$?
  [ $how -ne 3 ] && [ $small -eq 0 ] && { [ $status -eq 0 ] || fell "status $status though there is room: $words: $(head -n 1 "$dir/err")"; whole=$((whole + 1)); }
  if [ $small -gt 0 ]; then
    full=$((full + 1))
    [ $status -eq 1 ] || fell "status $status, not 1, on a full disk (kind $how, limit $limit KiB, needs $need bytes): $words: $(head -n 1 "$dir/err")"
    grep -qE '^tally: .*(No space left on device|File too large)' "$dir/err" || fell "the reason is not told (kind $how): $words: $(head -n 1 "$dir/err")"
    [ -n "$stdout" ] || grep -qF "$(basename "$file")" "$dir/err" || fell "the file is not named: $words: $(head -n 1 "$dir/err")"
  fi
  [ -z "$old" ] || [ "$(cat "$file.old" 2>/dev/null)" = precious ] || fell "what was there before is not in FILE.old: $words"
  [ $how -lt 2 ] && umount "$dir/out"
  [ "$only" -ne 0 ] && break
  [ $SECONDS -ge $end ] && break
  [ $fell -lt 20 ] || break
done
echo "count $full writes that met a full disk or a limit"
echo "count $whole writes that had room"
[ $fell -eq 0 ]
