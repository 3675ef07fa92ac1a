#!/bin/bash
# mutate.sh [OPTION...] FILE[:LINE[-LINE]]... - makes one small change after the other in a file of src/, and sees whether a test notices.
#
#   mutate.sh src/session/losses.c          each change in a file; with :LINE those of a line or of some
#   mutate.sh --seed 1 --count 200          200 places of all files, chosen by a seed
#   --slice A-B       of these the A-th to the B-th only: a long run in parts
#   -l, --list        the changes only
#   --json            a JSON document in place of the table
#   --rows FILE       rows are added to FILE, parted by tabs, and places that it has are passed by: a run goes on where it ended
#   -j, --jobs N      N places at a time, each in a copy of the tree of its own (1)
#   --seconds N       no test is begun for a change after so long, and none may run longer (60)
#   --least N         exit 0 when at least N % of the changes are caught (100)
#
# A change is one that tools/mutate.awk makes: a comparison one off or turned round, && for ||, a check that is never true, a
# number one higher, a call or an assignment left out.  A row for each: the place, the change, and what came of it:
#   caught: TEST: NAME    a test failed, died, or hung
#   survived              no test noticed
#   equivalent: WHY       no test could notice, as test/mutants.equivalent says
#   same code             the compiler makes the same instructions of it
#   does not compile
# The last line has the share of those caught among those caught and survived.  Exit 1: less than --least; 2: it could not run.
#
# Tests are taken by their nearness, as far as --seconds goes: the unit tests of the room, those first whose names begin as the
# file's does; the room's row of `rooms` below; the unit tests of rooms to the right.  Of those equally near, quick ones are
# first: what a test took when it passed is kept in build/mutate/usual, and one that takes longer than what is left is passed by.
# The first that fails ends it; the same test is then run without the change, once, and is left out if it fails there, too.
# Places are tried in an order that goes over all files early: the figure of a run that is ended is one of all rooms.
#
# The changed file is in a copy of the tree, build/mutate/tree-N.  A changed program may do anything, so it runs in name spaces of
# its own: it sees its own processes; where root runs it, it has a /tmp of its own and can write to no other file than the copy's.
set -u
cd "$(dirname "$0")/.." || exit 2

# What belongs to a room besides its unit tests, nearest first: a .bats file by its name, a program of test/spec as spec/NAME.
rooms() {
  cat <<'ROWS'
base command-line script list records
facts list doctor stat-cpu command-line
answer script records run ptt flame answers
dlang script records actions kernel-types libraries d run translators toolkit
hv spec/gpci spec/mmustat spec/vfalls hv hv-trace machine-hv
ptt ptt records tune
bpf script actions syscall pid usdt counter kernel-types cpc size run unwind
machine spec/mmustat hv machine-hv machine tune
kernel cpc counter syscall tracepoint pid run kernel-probes stat-cpu address doctor privilege unwind
attach machine-hv machine platform
symbol names cpc pid usdt address reader unwind
provider cpc syscall tracepoint pid usdt kernel-probes hv-trace list run kernel-types toolkit
platform platform machine hv list
ask stat hv list doctor stat-cpu
capture records answers ptt reader tune
session script cpc actions syscall records hv-trace pid libraries run names flame unwind translators toolkit
serve serve serve-platforms serve-archive serve-push serve-clients live
cmd command-line list stat doctor ptt hv privilege usdt libraries reader terminal script completion run stat-cpu machine machine-hv tune
ROWS
}

usage() { sed -n '2s/^# //p' tools/mutate.sh >&2; exit 2; }
fail() { echo "mutate.sh: $*" >&2; exit 2; }
seed= count= slice=1-999999 only_list= json= rows= jobs=1 budget=60 least=100 files=()
while [ $# -gt 0 ]; do
  case $1 in
  --seed) seed=${2:-}; shift ;;
  --count) count=${2:-}; shift ;;
  --slice) slice=${2:-}; shift ;;
  --seconds) budget=${2:-}; shift ;;
  --least) least=${2:-}; shift ;;
  -l | --list) only_list=1 ;;
  --json) json=1 ;;
  --rows) rows=${2:-}; shift ;;
  -j | --jobs) jobs=${2:-}; shift ;;
  -*) usage ;;
  *) files+=("$1") ;;
  esac
  shift
done
for number in "${seed:-1}" "${count:-1}" "$jobs" "$budget" "$least"; do [[ $number =~ ^[0-9]+$ ]] || usage; done
[[ $slice =~ ^[0-9]+-[0-9]+$ ]] || usage
[ ${#files[@]} -gt 0 ] || [ -n "$seed$count" ] || usage

# ---- which changes -------------------------------------------------------------------------------
# Rows of tools/mutate.awk, of all files or of those that are named; with --count a choice of them, the same for the same seed.
# Each draws a lot of its own from the seed, its file, its change and its text, and the lowest lots are taken: a commit changes
# the choice by the lines that it changes, and what was found out about all others still holds.
product() { find src -name '*.c' ! -name '*_test.c' ! -name '*_fuzz.c' | LC_ALL=C sort; }
mutants() {
  local file line
  if [ ${#files[@]} -eq 0 ]; then
    LC_ALL=C awk -f tools/mutate.awk $(product)
  else
    for file in "${files[@]}"; do
      line=${file#"${file%%:*}"}
      LC_ALL=C awk -f tools/mutate.awk "${file%%:*}" | awk -F '\t' -v lines="${line#:}" '
        BEGIN { n = split(lines, at, "-") } !n || $2 == at[1] || (n > 1 && $2 > +at[1] && $2 <= +at[2])'
    done
  fi | LC_ALL=C awk -F '\t' -v seed="${seed:-1}" -v count="$count" '
    # The rest of a division by a prime: the same number in every awk.
    function lot(text,   i, n) {
      n = seed % 2147483646 + 1
      for (i = length(text); i; i--) n = (n * 16807 + code[substr(text, i, 1)]) % 2147483647
      return n
    }
    BEGIN { for (i = 1; i < 256; i++) code[sprintf("%c", i)] = i }
    { place = $1 FS $4 FS $5; print (count == "" ? 0 : lot(place FS (++nth[place]))) FS NR FS $0 }' |
    sort -n -k 1,1 -k 2,2 | if [ -n "$count" ]; then head -n "$count"; else cat; fi | sort -n -k 2,2 | cut -f 3-
}
for file in "${files[@]}"; do
  product | grep -qx -- "${file%%:*}" || fail "${file%%:*} is no .c file of src/ that goes into the product"
done
work=build/mutate
mkdir -p "$work" || exit 2
mutants | sed -n "${slice%-*},${slice#*-}p" >"$work/mutants" || exit 2
if [ -n "$only_list" ]; then
  awk -F '\t' '{ printf "%-34s %-20s %s\n", $1 ":" $2, $4, $5 }' "$work/mutants"
  exit 0
fi

exec 9>"$work/lock"
flock -n 9 || fail "another one runs in this tree"
[ -n "$rows" ] || { rows=$work/rows; : >"$rows"; }
touch "$rows" "$work/failing" "$work/usual" "$work/proven" || exit 2
awk -F '\t' -v rows="$rows" '
  BEGIN { while ((getline row <rows) > 0) { split(row, f, "\t"); seen[f[1], f[2], f[3], f[4]] = 1 } }
  !(($1, $2, $4, $5) in seen) { print NR % 16 "\t" $0 }' "$work/mutants" | sort -s -n -k 1,1 | cut -f 2- >"$work/left"

# ---- the copy ------------------------------------------------------------------------------------
# Files keep their times, and what is built here is taken over: make builds only what differs.
copy_tree() {
  mkdir -p "$tree/build"
  find "$tree" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
  git ls-files -co --exclude-standard | while read -r file; do [ ! -f "$file" ] || echo "$file"; done |
    tar -cf - -T - | tar -xf - -C "$tree" || exit 2
  if [ ! -d "$tree/build/asan" ]; then
    for part in asan release prog tally libtally.a libtally.so.0 tally-qemu.so libduckdb.so; do
      [ ! -e "build/$part" ] || cp -a "build/$part" "$tree/build/"
    done
  fi
  # What an earlier one, ended by force, left changed.
  [ ! -f "$own/changed" ] || drop_objects "$(cat "$own/changed")"
}
unset WERROR
# Objects of a changed file go with the change: the file's own time is older than theirs.
drop_objects() { local stem=${1#src/}; rm -f "$tree"/build/{release,asan}/"${stem%.c}.o"; }
# Without debugging information, and what a unit test runs of the changed file is not optimized: compiled and linked sooner.
build() {
  make -s -C "$tree" -j"$((($(nproc) + jobs - 1) / jobs))" ASAN='-O0 -fno-omit-frame-pointer $(SANITIZE)' CFLAGS="${CFLAGS:-} -g0" \
    LDFLAGS="${LDFLAGS:-} -Wl,-S" "$@" >"$own/build.log" 2>&1
}
# What a .bats file runs.
build_product() { [ -n "$whole" ] || build all progs && whole=1 && build build/tally; }
build_test() { case $1 in *.bats) build_product ;; *) build "$1" ;; esac; }

# ---- tests ---------------------------------------------------------------------------------------
# A test is build/test/ROOM_x_test, build/spec/x or test/x.bats.
name_spaces=(unshare -m -p -f --kill-child --mount-proc)
[ "$(id -u)" -eq 0 ] || name_spaces+=(--map-current-user)
"${name_spaces[@]}" true 2>/dev/null || fail "name spaces cannot be made here (unshare): a changed program may do anything"
case $PWD in /tmp/*) fail "a tree below /tmp can't be tested: a changed program has a /tmp of its own" ;; esac
inside='[ "$(id -u)" -ne 0 ] || { mount --bind "$1" "$1" && mount -o remount,bind,ro / && mount -t tmpfs -o size=2g,mode=1777 tmpfs /tmp; } &&
cd "$1" || exit 125
limit=$2; shift 2
ASAN_OPTIONS=abort_on_error=0:detect_leaks=1:hard_rss_limit_mb=4000 CMOCKA_MESSAGE_OUTPUT=TAP
export ASAN_OPTIONS CMOCKA_MESSAGE_OUTPUT
timeout -s KILL "$limit" setsid -w env -u SHELL -u TERM "$@" 2>&1'

# What fails here without a change, "TEST NAME" a line: those that look for process numbers as they are outside of these name spaces.
# 0: passed; 1: failed, with the reason in `reason`; 2: could not be built.  With `learn` what fails is put into that list.
run_test() { # TEST SECONDS [learn]
  local box line status name first= known=0 skipped=0 command=("$1") begin took
  build_test "$1" || return 2
  [[ $1 != *.bats ]] || command=(bats --tap "$1")
  begin=$(date +%s%N)
  exec 3< <(exec "${name_spaces[@]}" sh -c "$inside" sh "$PWD/$tree" "$2" "${command[@]}" </dev/null 2>&1 9>&-)
  box=$!
  while IFS= read -r line <&3; do
    case $line in
    "ok "*"# "[Ss][Kk][Ii][Pp]* | "not ok "*"# "[Ss][Kk][Ii][Pp]*) skipped=$((skipped + 1)) ;;
    "not ok "*)
      name=${line#not ok } name=${name#* } name=${name#- }
      [ -z "${3:-}" ] || grep -qxF "$1 $name" "$work/failing" || echo "$1 $name" >>"$work/failing"
      if grep -qxF "$1 $name" "$work/failing"; then known=$((known + 1)); continue; fi
      first=$name
      kill -KILL "$box" 2>/dev/null # it may have ended
      break ;;
    esac
  done
  exec 3<&-
  wait "$box" 2>/dev/null
  status=$?
  took=$((($(date +%s%N) - begin) / 1000000))
  if [ -n "$first" ]; then reason=$first
  elif [ $status -eq 125 ]; then fail "$1 cannot be run in name spaces"
  elif [ $took -ge $(($2 * 1000)) ]; then reason="hung"
  elif [ $status -gt 128 ]; then reason="died of signal $((status - 128))"
  elif [ $status -ne 0 ] && [ $status -ne $((skipped + known)) ] && [[ $1 != *.bats || $known -eq 0 ]]; then reason="exit status $status"
  else
    keep_usual "$1" $took
    return 0
  fi
  return 1
}

# What a test took when it last passed, in milliseconds, for each version of the test; `never` if it can't be used.
source_of() { case $1 in *.bats) echo "$1" ;; build/spec/*) echo "test/spec/${1##*/}.c" ;; *) unit=${1##*/}; echo "src/${unit%%_*}/${unit#*_}.c" ;; esac; }
version_of() { cksum <"$(source_of "$1")" | tr ' ' -; }
keep_usual() { echo "$1 $(version_of "$1") $2" >>"$work/usual"; }
usual_time() { awk -v t="$1" -v v="$(version_of "$1")" '$1 == t && $2 == v { time = $3 } END { print time ? time : 0 }' "$work/usual"; }

# Which tests passed in this tree as it is: an earlier one of the same files has found out.
state=$(find src test Makefile -type f -exec cksum {} + | LC_ALL=C sort | cksum | tr ' ' -)
is_proven() { grep -qxF "$1 $state" "$work/proven"; }
prove() { echo "$1 $state" >>"$work/proven"; }

# The tests of a file, nearest first: one a line.
nearest() { # FILE
  local room=${1#src/} stem
  stem=${room#*/} room=${room%%/*} stem=${stem%.c}
  {
    for t in src/"$room"/*_test.c; do [ ! -f "$t" ] || echo "1 build/test/${room}_$(basename "$t" .c)"; done
    rooms | awk -v room="$room" '$1 == room { for (i = 2; i <= NF; i++) print 2, ($i ~ /^spec/ ? "build/" $i : "test/" $i ".bats") }'
    awk '$1 == "tier" { for (i = 2; i <= NF; i++) print ++n, $i, NR }' tools/rooms |
      awk -v room="$room" '{ name[NR] = $2; row[NR] = $3 } $2 == room { own = $3 } END { for (i = 1; i <= NR; i++) if (row[i] > own) print name[i] }' |
      while read -r right; do for t in src/"$right"/*_test.c; do [ ! -f "$t" ] || echo "3 build/test/${right}_$(basename "$t" .c)"; done; done
  } | while read -r class t; do
    echo "$class $t $(usual_time "$t")"
  done | awk -v stem="$stem" -v room="$room" '
    # How many words two names begin with alike.
    function alike(a, b,   i, n, m, x, y) {
      n = split(a, x, "_"); m = split(b, y, "_")
      for (i = 1; i <= n && i <= m && (x[i] == y[i] || (length(x[i]) > 5 && substr(x[i], 1, 6) == substr(y[i], 1, 6))); i++) ;
      return i - 1
    }
    {
      name = $2
      sub(/.*\//, "", name); sub(/[.]bats$|_test$/, "", name); gsub(/-/, "_", name)
      if ($1 == 1) sub("^" room "_", "", name)
      like = $1 == 3 ? 0 : alike(stem, name) + (stem == name)
      print (like ? 0 : $1), -like, $1, ($1 == 2 ? NR : $3), $2, $3
    }' | sort -k1,1n -k2,2n -k3,3n -k4,4n | awk '$6 != "never" { print $5, $6 }'
}

# ---- one change ----------------------------------------------------------------------------------
change() { echo "$file" >"$own/changed"; LC_ALL=C awk -v edits="$edits" -f tools/mutate.awk "$file" >"$tree/$file"; }
restore() { cat "$file" >"$tree/$file"; drop_objects "$file"; }
# Whether the compiler makes the same instructions of it; a test that fails says already that it doesn't.
compare_objects() {
  local object=build/release/${file#src/}
  object=${object%.c}.o
  if [ "$compared" != "$file" ]; then
    restore
    build "$object" && objcopy -g "$tree/$object" "$own/before.o" || fail "$object cannot be built"
    compared=$file
    change
  fi
  build "$object" && objcopy -g "$tree/$object" "$own/now.o" && cmp -s "$own/now.o" "$own/before.o"
}

judge() { # in `verdict`
  local t usual why same= failed begin end=$((SECONDS + budget))
  # By the environment: -v would take a backslash in the text for an escape.
  why=$(place="$file	$what	$text" awk -F '\t' '$1 "\t" $2 "\t" $3 == ENVIRON["place"] { print $4; exit }' test/mutants.equivalent 2>/dev/null)
  [ -z "$why" ] || { verdict="equivalent: $why"; return; }
  change
  while read -r t usual; do
    [ $((SECONDS + usual / 1000)) -lt $end ] || continue
    case $t,$same in *.bats,) compare_objects && { verdict="same code"; return; }; same=no ;; esac
    begin=$SECONDS
    run_test "$t" "$budget"
    case $? in
    0) continue ;;
    2)
      verdict="does not compile"
      restore
      build_test "$t" || { tail -n 20 "$own/build.log" >&2; fail "$t cannot be built without a change"; }
      return ;;
    esac
    verdict="caught: ${t##*/}: $reason"
    # Does it fail for the change?  On a busy machine it may only be slow.
    ! is_proven "$t" || [ "$reason" = hung ] || return
    failed=$reason
    restore
    if run_test "$t" "$budget" learn && ! grep -qxF "$t $failed" "$work/failing"; then prove "$t"; return; fi
    echo "mutate.sh: $t fails without a change, too ($failed): left out" >&2
    grep -qxF "$t $failed" "$work/failing" || keep_usual "$t" never
    change
    end=$((end + SECONDS - begin)) # what is found out once is not taken from this change
  done < <(nearest "$file")
  verdict=survived
  [ -n "$same" ] || ! compare_objects || verdict="same code"
}

# Every one of `jobs` lines of what is left, from the one given on.
try_places() { # NUMBER
  local own=$work/own-$1 tree=$work/tree-$1 compared= whole= file line edits what text verdict
  mkdir -p "$own" && copy_tree || exit 2
  while IFS=$'\t' read -r file line edits what text <&4; do
    judge
    restore
    printf '%s\t%s\t%s\t%s\t%s\n' "$file" "$line" "$what" "$text" "$verdict" >>"$rows"
    [ -n "$json" ] || printf '%-34s %-20s %-60s %s\n' "$file:$line" "$what" "${text:0:60}" "$verdict"
  done 4< <(awk -v n="$1" -v jobs="$jobs" 'NR % jobs == n % jobs' "$work/left")
  rm -f "$own"/{changed,before.o,now.o}
}
running=()
trap 'kill "${running[@]}"; exit 2' INT TERM
for ((n = 1; n <= jobs; n++)); do try_places $n & running+=($!); done
for n in "${running[@]}"; do wait "$n" || exit 2; done

awk -F '\t' -v json="$json" -v least="$least" '
  function quoted(s) { gsub(/\\/, "\\\\&", s); gsub(/"/, "\\\"", s); gsub(/\t/, "\\t", s); return "\"" s "\"" }
  {
    kind = $5; sub(/:.*/, "", kind); gsub(/ /, "_", kind)
    said = $5; if (!sub(/^[a-z]*: /, "", said)) said = ""
    n[kind]++
    if (json) printf "%s\n {\"file\": %s, \"line\": %d, \"change\": %s, \"source\": %s, \"verdict\": \"%s\", \"words\": %s}", NR == 1 ? "{\"mutants\": [" : ",", quoted($1), $2, quoted($3), quoted($4), kind, quoted(said)
  }
  END {
    of = n["caught"] + n["survived"]
    share = of ? 100 * n["caught"] / of : 100
    if (json) printf "%s],\n\"caught\": %d, \"survived\": %d, \"equivalent\": %d, \"same_code\": %d, \"does_not_compile\": %d, \"share\": %.1f}\n", NR ? "\n" : "{\"mutants\": [", n["caught"], n["survived"], n["equivalent"], n["same_code"], n["does_not_compile"], share
    else printf "%d of %d caught (%.1f %%), %d survived; not counted: %d equivalent, %d of the same code, %d that do not compile\n", n["caught"], of, share, n["survived"], n["equivalent"], n["same_code"], n["does_not_compile"]
    exit share < least
  }' "$rows"
