#!/usr/bin/env bats
# Names as people write them. The truth is that of the programs in test/prog/name: each of their functions touches a known
# number of fresh pages, one page fault each.
bats_require_minimum_version 1.5.0
load common

NAME=$BATS_TEST_DIRNAME/prog/name

teardown() { grep -ls ringTill /tmp/perf-*.map | xargs -r rm -f; }

needs() { for tool; do command -v "$tool" >/dev/null || skip "$tool is not there"; done; }

# faults OPTIONS CLAUSE COMMAND: the page faults of the command.
faults() {
  needs_bpf
  run --separate-stderr "$TALLY" trace $1 -x dcpc_min_overflow=1 -qn "cpc:::page_faults-user-1 /pid == \$target/ { $2 }" -c "$3"
  [ "$status" -eq 0 ] || { echo "$stderr"; return 1; }
}
# gave NAME PAGES: the row of that name, to the letter, with so many faults; a few may be lost, or come on top.
gave() {
  local n
  n=$(awk -v name="$1" '{ v = $NF; sub(/^ +/, ""); sub(/ +[0-9]+$/, ""); if ($0 == name) n += v } END { print n + 0 }' <<<"$output")
  [ "$n" -ge $(($2 * 95 / 100)) ] && [ "$n" -le $(($2 * 105 / 100)) ] || { echo "$1: $n, not $2"; echo "$output"; return 1; }
}
# folded OPTIONS PROGRAM: folded stacks, from which `output` has the innermost frames.
folded() {
  rm -f "$BATS_TEST_TMPDIR/x.folded"
  faults "$1 -o $BATS_TEST_TMPDIR/x.folded" '@[ustack(1)] = count();' "$2"
  output=$(cat "$BATS_TEST_TMPDIR/x.folded")
}
compile_cc() {
  needs g++
  g++ -O1 -g -fno-omit-frame-pointer "$@" -o "$BATS_TEST_TMPDIR/shop" "$NAME/shop.cc"
}

@test "functions of C++ have their names with types of parameters; -x demangle=off and short" {
  compile_cc
  faults '' '@[ufunc(arg1)] = count();' "$BATS_TEST_TMPDIR/shop"
  gave 'shop`shop::till::ring(char*, long)' 2000
  gave 'shop`shop::till::ring(char*, int)' 1000
  gave 'shop`shop::shelf<char>::fill(char*, long)' 500
  faults '-x demangle=off' '@[ufunc(arg1)] = count();' "$BATS_TEST_TMPDIR/shop"
  gave 'shop`_ZN4shop4till4ringEPcl' 2000
  gave 'shop`_ZN4shop4till4ringEPci' 1000
  # without parameters the two are one row
  faults '-x demangle=short' '@[ufunc(arg1)] = count();' "$BATS_TEST_TMPDIR/shop"
  gave 'shop`shop::till::ring' 3000
  gave 'shop`shop::shelf<char>::fill' 500
}

@test "folded stacks have names of C++ too" {
  compile_cc
  folded '' "$BATS_TEST_TMPDIR/shop"
  gave 'shop`shop::till::ring(char*, long)' 2000
  folded '-x demangle=short' "$BATS_TEST_TMPDIR/shop"
  gave 'shop`shop::till::ring' 3000
}

@test "functions of Rust have their names, mangled in the legacy form and in v0" {
  local form
  needs rustc
  for form in legacy v0; do
    RUSTC_BOOTSTRAP=1 rustc -O -Z unstable-options -C symbol-mangling-version=$form -o "$BATS_TEST_TMPDIR/shop" "$NAME/shop.rs" 2>"$BATS_TEST_TMPDIR/err" ||
      skip "this rustc has no form $form: $(head -n 1 "$BATS_TEST_TMPDIR/err")"
    faults '' '@[ufunc(arg1)] = count();' "$BATS_TEST_TMPDIR/shop"
    gave 'shop`<shop::till::Drawer as shop::till::Ring>::ring' 2000
    gave 'shop`shop::till::fill' 1000
  done
}

@test "addresses of a stripped object are one frame [module] in folded stacks, and addresses with -x rawaddr" {
  compile_cc -s
  folded '' "$BATS_TEST_TMPDIR/shop"
  gave '[shop]' 3500
  [[ "$output" != *'shop`0x'* ]]
  folded '-x rawaddr' "$BATS_TEST_TMPDIR/shop"
  [ "$(grep -c '^shop`0x[0-9a-f]* ' <<<"$output")" -ge 3 ]
  [[ "$output" != *'[shop]'* ]]
  # text stays as dtrace(1) prints it, also with room for strings
  faults '' '@[ustack(1)] = count();' "$BATS_TEST_TMPDIR/shop"
  [ "$(grep -c 'shop`0x[0-9a-f]*$' <<<"$output")" -ge 3 ]
  faults '' '@[ustack(1, 128)] = count();' "$BATS_TEST_TMPDIR/shop"
  [ "$(grep -c 'shop`0x[0-9a-f]*$' <<<"$output")" -ge 3 ]
}

@test "-x demangle takes on, off and short, and nothing else" {
  for value in on off short; do "$TALLY" trace --on vm -x demangle=$value -qn 'BEGIN { exit(0); }'; done
  run -2 "$TALLY" trace -x demangle=long -qn 'BEGIN { exit(0); }'
  [[ "$output" == *'option demangle takes on, off or short'* ]]
}

@test "functions of C have their names in programs that are static, static-pie, and linked with musl" {
  local how cc
  for how in "gcc -static" "gcc -static-pie" "musl-gcc" "musl-gcc -static"; do
    cc=${how%% *}
    command -v "$cc" >/dev/null || { echo "# $cc is not there: left out"; continue; }
    $how -O1 -g -fno-omit-frame-pointer -o "$BATS_TEST_TMPDIR/shop" "$NAME/shop.c"
    faults '' '@[ufunc(arg1)] = count();' "$BATS_TEST_TMPDIR/shop"
    gave 'shop`till_ring' 2000
    gave 'shop`till_fill' 1000
  done
}

@test "functions of code that lies at other addresses than offsets in its file have their names, not their neighbours'" {
  needs gcc readelf
  gcc -O1 -g -fno-omit-frame-pointer -pie -Wl,-Ttext=0x24680 -o "$BATS_TEST_TMPDIR/shop" "$NAME/shop.c"
  readelf -SW "$BATS_TEST_TMPDIR/shop" | grep -q ' \.text .* 0*24680 0*[0-9a-f]\{1,4\} '
  faults '' '@[ufunc(arg1)] = count();' "$BATS_TEST_TMPDIR/shop"
  gave 'shop`till_ring' 2000
  gave 'shop`till_fill' 1000
}

@test "functions of D have their names" {
  needs gdc
  gdc -O1 -g -fno-omit-frame-pointer -o "$BATS_TEST_TMPDIR/shop" "$NAME/shop.d"
  faults '' '@[ufunc(arg1)] = count();' "$BATS_TEST_TMPDIR/shop"
  gave 'shop`shop.Till.ring(long)' 2000
  gave 'shop`shop.fill!(int).fill(int)' 1000
  faults '-x demangle=short' '@[ufunc(arg1)] = count();' "$BATS_TEST_TMPDIR/shop"
  gave 'shop`shop.Till.ring' 2000
}

@test "functions of Go have their names" {
  needs go
  (cd "$BATS_TEST_TMPDIR" && GO111MODULE=off GOFLAGS= GOCACHE=$BATS_TEST_TMPDIR/go go build -o shop "$NAME/shop.go")
  faults '' '@[ufunc(arg1)] = count();' "$BATS_TEST_TMPDIR/shop"
  gave 'shop`main.(*till).ring' 2000
  gave 'shop`main.fill' 1000
}

@test "functions of OCaml have their names" {
  needs ocamlopt
  (cd "$BATS_TEST_TMPDIR" && cp "$NAME/shop.ml" . && ocamlopt -O3 -g -o shop shop.ml 2>/dev/null)
  faults '' '@[ufunc(arg1)] = count();' "$BATS_TEST_TMPDIR/shop"
  output=$(sed -E 's/(camlShop__(ring|fill))_[0-9]+/\1/' <<<"$output")
  gave 'shop`camlShop__ring' 20000
  gave 'shop`camlShop__fill' 10000
}

@test "functions of JavaScript have the names of node's perf map" {
  needs node
  cd "$BATS_TEST_TMPDIR" # node leaves a log where it stands
  needs_bpf
  TALLY=$(realpath "$TALLY") NAME=$(realpath "$NAME")
  cd "$BATS_TEST_TMPDIR" # node leaves a log of its own where it runs
  run --separate-stderr "$TALLY" trace -qn 'profile-997 /arg1 && pid == $target/ { @[ufunc(arg1)] = count(); }' \
    -c "node --perf-basic-prof --interpreted-frames-native-stack $NAME/shop.js"
  [[ "$output" == *'[jit]`'*ringTill* ]] || { echo "$output"; echo "$stderr"; false; }
}

@test "functions of JavaScript have the names of node's jitdump, though it is removed" {
  needs node
  needs_bpf
  TALLY=$(realpath "$TALLY") NAME=$(realpath "$NAME")
  cd "$BATS_TEST_TMPDIR" # node leaves it where it runs
  printf 'node --perf-prof %s/shop.js\nrm jit-*.dump\n' "$NAME" >run.sh
  run --separate-stderr "$TALLY" trace -qn 'profile-997 /arg1 && execname == "node"/ { @[ufunc(arg1)] = count(); }' -c "sh run.sh"
  [ "$status" -eq 0 ]
  [ -z "$(ls jit-*.dump 2>/dev/null)" ]
  [[ "$output" == *'[jit]`'*ringTill* ]] || { echo "$output"; echo "$stderr"; false; }
}

@test "functions of Java have the names of the perf map that the VM leaves at its end, also in jstack()" {
  local options="-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit" ring fill
  needs java javac
  needs_bpf
  javac -d "$BATS_TEST_TMPDIR" "$NAME/Shop.java"
  java $options -XX:+PreserveFramePointer -version >"$BATS_TEST_TMPDIR/said" 2>&1 || skip "this java writes no perf map: $(head -n 1 "$BATS_TEST_TMPDIR/said")"
  run --separate-stderr "$TALLY" trace -qn 'profile-997 /arg1 && pid == $target/ { @[ufunc(arg1)] = count(); }' \
    -c "java $options -cp $BATS_TEST_TMPDIR Shop"
  ring=$(awk '/\[jit\]`void Shop.ringTill\(int\)/ { n += $NF } END { print n + 0 }' <<<"$output")
  fill=$(awk '/\[jit\]`void Shop.fillShelf\(int\)/ { n += $NF } END { print n + 0 }' <<<"$output")
  # they do 4 parts and 1
  [ "$fill" -ge 20 ] && [ "$ring" -ge $((fill * 2)) ] && [ "$ring" -le $((fill * 8)) ] || { echo "$output"; echo "$stderr"; false; }
  run --separate-stderr "$TALLY" trace -qn 'profile-997 /arg1 && pid == $target/ { @[jstack(2)] = count(); }' \
    -c "java $options -XX:+PreserveFramePointer -cp $BATS_TEST_TMPDIR Shop"
  grep -A 1 'jit.`void Shop.ringTill(int)+0x' <<<"$output" | grep -q 'jit.`Interpreter+0x' || { echo "$output"; echo "$stderr"; false; }
}

# ---- variables --------------------------------------------------------------------------

stores() { gave 'store`store_shelf' 2000 && gave 'store`store_drawer' 1000 && gave 'store`store_stock' 500; }

@test "usym() and uaddr() of data name the variable, in programs that are pie, not pie, static and static-pie" {
  local how
  needs gcc
  for how in -pie -no-pie -static -static-pie; do
    gcc $how -O1 -o "$BATS_TEST_TMPDIR/store" "$NAME/store.c"
    faults '' '@[usym(arg2)] = count();' "$BATS_TEST_TMPDIR/store"
    stores
    gave '[anon]' 300
  done
  faults '' '@[uaddr(arg2)] = count();' "$BATS_TEST_TMPDIR/store"
  [ "$(grep -cE 'store`store_drawer(\+0x[0-9a-f]+)? ' <<<"$output")" -ge 950 ]
  faults '' '@[umod(arg2)] = count(); printf("%A\n", arg2);' "$BATS_TEST_TMPDIR/store"
  [ "$(grep -c '^store`store_stock' <<<"$output")" -ge 475 ]
  output=$(grep ' ' <<<"$output")
  gave store 3500
}

@test "%A names an address with its offset, in printf() and in a key of printa()" {
  local line name number offset
  local -A is_at
  needs gcc nm
  gcc -no-pie -O1 -o "$BATS_TEST_TMPDIR/store" "$NAME/store.c"
  while read -r number _ name; do is_at[$name]=$number; done < <(nm --defined-only "$BATS_TEST_TMPDIR/store")
  faults '' 'printf("%A %x\n%A %x\n", arg2, arg2, usym(arg2), arg2); @[arg2, arg2] = count(); } END { printa("%A %x\n", @);' \
    "$BATS_TEST_TMPDIR/store"
  output=$(grep '^store`store_' <<<"$output")
  [ "$(wc -l <<<"$output")" -ge $((3 * 3300)) ]
  while read -r name number; do
    offset=0
    [[ "$name" != *+0x* ]] || offset=${name#*+}
    name=${name#*\`}
    [ $((0x$number)) -eq $((0x${is_at[${name%+*}]} + offset)) ] || { echo "$name $number"; return 1; }
  done <<<"$output"
  # No address of this program has a time: nothing is said of what the kernel tells of times.
  faults '' '@[arg2] = count(); } END { printa("%A\n", @);' "$BATS_TEST_TMPDIR/store"
  [ "$(grep -c '^store`store_' <<<"$output")" -ge 3300 ]
  [[ "$stderr" != *"does not tell"* ]]
}

@test "a stripped file has the variables of its debug file, and else those of no other" {
  needs gcc objcopy
  gcc -O1 -g -o "$BATS_TEST_TMPDIR/store" "$NAME/store.c"
  ( cd "$BATS_TEST_TMPDIR"
    objcopy --only-keep-debug store store.debug
    strip store
    objcopy --add-gnu-debuglink=store.debug store )
  faults '' '@[usym(arg2)] = count();' "$BATS_TEST_TMPDIR/store"
  stores
  rm "$BATS_TEST_TMPDIR/store.debug"
  faults '' '@[usym(arg2)] = count();' "$BATS_TEST_TMPDIR/store"
  [ "$(grep -c 'store`0x' <<<"$output")" -ge 3400 ]
  [[ "$output" != *store_* ]]
}

# yard HOW: faults of the program by the clause $name; $truth is the file in which it says what lay where.
yard() {
  gcc -O1 -o "$BATS_TEST_TMPDIR/yard" "$NAME/yard.c"
  truth=$BATS_TEST_TMPDIR/truth
  faults '' "$name" "$BATS_TEST_TMPDIR/yard $1 $BATS_TEST_TMPDIR $truth"
}

@test "usym() of data in no object is the heap, the stack, memory without a file, or the file that is mapped" {
  local name='@[usym(arg2)] = count();' truth
  needs gcc
  yard code
  gave '[heap]' 200
  gave '[stack]' 150
  gave '[anon]' 300
  gave 'yard`yard_shed' 100
  gave sack.bin 250
  gave ladder.bin 50                       # in the place of the first pages of sack.bin
  # if no code went between the two, nobody can tell which of them it was
  yard data
  gave sack.bin 200
  gave ladder.bin 0
  [ "$(awk '/^ +0x/ { n += $NF } END { print n + 0 }' <<<"$output")" -ge 95 ]
}

@test "uaddr() of data in no object is its word, and the place in the file or the address" {
  local name='@[arg2, uaddr(arg2)] = count();' truth
  needs gcc python3
  yard code
  python3 - "$truth" 3<<<"$output" <<'PYTHON'
import os, sys
truth = [(w, int(a, 16), int(b, 16)) for w, a, b in (line.split() for line in open(sys.argv[1]) if line.strip())]
seen = {w: 0 for w, a, b in truth}
for line in os.fdopen(3):
    if not line.strip():
        continue
    at, name, n = line.split()
    at = int(at) % 2**64
    for w, a, b in truth:
        if not a <= at < b or not (name.startswith(w + '`') or '`' + w in name):
            continue
        if w.endswith('.bin'):
            assert int(name.split('`')[1], 16) == at - a + 4096, line
        elif w.startswith('['):
            assert int(name.split('`')[1], 16) == at, line
        seen[w] += 1
        break
    else:
        assert not any(a <= at < b for w, a, b in truth), line
assert len(truth) == 6 and all(seen[w] * 4096 >= 0.95 * (b - a) for w, a, b in truth), seen
PYTHON
}

@test "a process that maps memory under a thousand names as fast as it can costs at most 8 MB more where addresses of data are named" {
  needs gcc
  needs_bpf
  gcc -O1 -o "$BATS_TEST_TMPDIR/yard" "$NAME/yard.c"
  local code data
  code=$(stormed arg1)
  data=$(stormed arg2)
  echo "# names of code: $code kB; of data: $data kB" >&3
  [ "$code" -gt 1000 ] && [ "$data" -le $((code + 8192)) ]
}
# stormed ARGUMENT: the most memory that tally had, in kB.
stormed() {
  "$TALLY" trace -w -x dcpc_min_overflow=1 -x quiet -n 'cpc:::page_faults-user-10 /execname == "yard"/ { @[usym('"$1"')] = count(); }
      END { system("grep VmHWM /proc/%d/status", $pid); trunc(@); }' -c "$BATS_TEST_TMPDIR/yard storm - $BATS_TEST_TMPDIR/truth" 2>/dev/null | awk '/VmHWM/ { print $2 }'
}

@test "memory that was mapped before tally began has its words, in a child that has ended as well" {
  needs gcc
  needs_bpf
  gcc -O1 -o "$BATS_TEST_TMPDIR/yard" "$NAME/yard.c"
  mkfifo "$BATS_TEST_TMPDIR/go"
  "$BATS_TEST_TMPDIR/yard" fork "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/truth" <>"$BATS_TEST_TMPDIR/go" 3>&- &
  until [ "$(stat -c %s "$BATS_TEST_TMPDIR/sack.bin" 2>/dev/null || echo 0)" -gt 0 ]; do :; done
  run --separate-stderr "$TALLY" trace -x dcpc_min_overflow=1 -qn 'cpc:::page_faults-user-1 /ppid == $target/ { @[usym(arg2)] = count(); }
      syscall::exit_group:entry /pid == $target/ { exit(0); }
      tick-10ms /!i++/ { system("echo > %s", "'"$BATS_TEST_TMPDIR/go"'"); }' -w -p $!
  wait
  [ "$status" -eq 0 ] || { echo "$stderr"; false; }
  gave '[heap]' 200
  gave '[stack]' 150
  gave '[anon]' 300
  gave sack.bin 200 # and of the first 50 pages nobody can tell
}

# ---- the kernel -----------------------------------------------------------------------------

@test "a program of BPF that was loaded after names of the kernel were read has its name in a stack" {
  needs_types
  local late tracer sampled="$BATS_TEST_TMPDIR/sampled" loaded="$BATS_TEST_TMPDIR/loaded"
  "$TALLY" trace -qn 'BEGIN { printf("%a ready\n", (uintptr_t)curthread->sched_class); } profile-997 /execname == "calls"/ { @[stack()] = count(); n++; }
    profile-997 /n >= 500/ { exit(0); }' >"$sampled" 2>&1 3>&- &
  tracer=$!
  until grep -q ready "$sampled"; do kill -0 $tracer; done
  grep -o 'bpf_prog_[0-9a-f]*_[^[:space:]]*' /proc/kallsyms | sort -u >"$BATS_TEST_TMPDIR/before"
  "$TALLY" trace -qn 'BEGIN { printf("ready\n"); } syscall::getppid:entry /pid == $target/ { @[strjoin(strjoin(execname, probefunc), strjoin(probename, execname))] = count(); }' \
    -c "$PROGS/calls loop 1000000000" >"$loaded" 2>&1 3>&- &
  late=$!
  until grep -q ready "$loaded"; do kill -0 $late; done
  grep -o 'bpf_prog_[0-9a-f]*_[^[:space:]]*' /proc/kallsyms | sort -u >"$BATS_TEST_TMPDIR/after"
  wait $tracer
  ends_with 0 $late kill $late
  # Of those that came, one stands where a raw tracepoint calls it; other tracers' may stand there, too.
  grep -B 1 'vmlinux`bpf_trace_run' "$sampled" | grep -o 'bpf`bpf_prog_[^+]*' | sed 's/^bpf`//' | sort -u >"$BATS_TEST_TMPDIR/seen"
  [ -n "$(comm -12 "$BATS_TEST_TMPDIR/seen" <(comm -13 "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"))" ] || { cat "$sampled"; false; }
  [ -z "$(comm -23 "$BATS_TEST_TMPDIR/seen" "$BATS_TEST_TMPDIR/after")" ] || { cat "$BATS_TEST_TMPDIR/seen"; false; }
}

# ---- containers ---------------------------------------------------------------------------

# inside SETUP COMMAND: faults of the command in a mount namespace of its own, in which SETUP ran; it lives until it is named.
inside() {
  needs_bpf
  unshare -m true 2>/dev/null || skip "no namespaces of mounts here"
  printf '%s && exec %s\n' "$1" "$2" >"$BATS_TEST_TMPDIR/in.sh"
  run --separate-stderr timeout 60 "$TALLY" trace -x dcpc_min_overflow=1 -qn 'cpc:::page_faults-user-1 /progenyof($target)/ { @[ufunc(arg1)] = count(); }
      syscall::pause:entry /progenyof($target)/ { printa(@); exit(0); }' -c "unshare -m sh $BATS_TEST_TMPDIR/in.sh"
  [ "$status" -eq 0 ] || { echo "$stderr"; return 1; }
}

@test "a file of an overlay that only its process sees has its names, from the lower layer, the upper one, and copied up" {
  local mount layer
  compile_cc
  cd "$BATS_TEST_TMPDIR"
  mkdir store lower
  mv shop lower
  mount="mount -t tmpfs none store && mkdir store/upper store/work store/merged && mount -t overlay none -o lowerdir=lower,upperdir=store/upper,workdir=store/work store/merged"
  unshare -m sh -c "$mount" 2>/dev/null || skip "no overlay file system here"
  for layer in true "touch store/merged/shop" "cp lower/shop store/merged/other && mv store/merged/other store/merged/shop"; do
    inside "$mount && $layer" "store/merged/shop pause"
    gave 'shop`shop::till::ring(char*, long)' 2000
    gave 'shop`shop::till::ring(char*, int)' 1000
  done
}

@test "a file that was removed before its process began to run it has its names" {
  compile_cc
  cd "$BATS_TEST_TMPDIR"
  inside "cp shop gone && exec 3<gone && rm gone" "/proc/self/fd/3 pause"
  gave 'gone`shop::till::ring(char*, long)' 2000
  gave 'gone`shop::till::ring(char*, int)' 1000
}

@test "a file in a root directory and file system of its process's own has its names" {
  compile_cc -static
  cd "$BATS_TEST_TMPDIR"
  mkdir root
  inside "mount -t tmpfs none root && mkdir root/bin && cp shop root/bin" "chroot root /bin/shop pause"
  gave 'shop`shop::till::ring(char*, long)' 2000
}

# ---- what was stripped off, in a file of its own ---------------------------------------

# split [OPTION...]: shop is stripped, shop.debug has what it lost, and shop tells its name and checksum.
split() {
  compile_cc "$@"
  ( cd "$BATS_TEST_TMPDIR"
    objcopy --only-keep-debug shop shop.debug
    strip shop
    objcopy --add-gnu-debuglink=shop.debug shop )
}
has_names() { faults '' '@[ufunc(arg1)] = count();' "$BATS_TEST_TMPDIR/shop"; gave 'shop`shop::till::ring(char*, long)' 2000; }
has_none() {
  faults '' '@[ufunc(arg1)] = count();' "$BATS_TEST_TMPDIR/shop"
  [[ "$output" != *till* ]] && [ "$(grep -c 'shop`0x' <<<"$output")" -ge 3 ]
}

@test "a stripped file has the names of the file that .gnu_debuglink names, beside it or in .debug" {
  split
  has_names
  mkdir "$BATS_TEST_TMPDIR/.debug"
  mv "$BATS_TEST_TMPDIR/shop.debug" "$BATS_TEST_TMPDIR/.debug"
  has_names
}

@test "a debug file without build id must have the checksum that .gnu_debuglink tells" {
  split -Wl,--build-id=none
  has_names
  echo >>"$BATS_TEST_TMPDIR/shop.debug"
  has_none
}

@test "a debug file of another build gives no names" {
  split
  g++ -O2 -g -DOTHER -Wl,--build-id=0x00112233445566778899aabbccddeeff00112233 -o "$BATS_TEST_TMPDIR/shop.debug" "$NAME/shop.cc"
  has_none
}

@test "a debug file that others may write, or that another user owns, gives no names" {
  split
  chmod g+w "$BATS_TEST_TMPDIR/shop.debug"
  has_none
  chmod g-w "$BATS_TEST_TMPDIR/shop.debug"
  chown 12345 "$BATS_TEST_TMPDIR/shop.debug"
  has_none
  chown 12345 "$BATS_TEST_TMPDIR/shop" # then it is the owner's of the program
  has_names
}

# build_id FILE
build_id() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }

@test "a stripped file has the names of the file in /usr/lib/debug/.build-id, also where only its process sees one" {
  local id
  needs_bpf
  unshare -m true 2>/dev/null || skip "no namespaces of mounts here"
  compile_cc
  id=$(build_id "$BATS_TEST_TMPDIR/shop")
  cat >"$BATS_TEST_TMPDIR/in.sh" <<SH
mkdir -p /usr/lib/debug && mount -t tmpfs none /usr/lib/debug && mkdir -p /usr/lib/debug/.build-id/${id:0:2} &&
cp "$BATS_TEST_TMPDIR/shop.debug" /usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug && exec "\$@"
SH
  objcopy --only-keep-debug "$BATS_TEST_TMPDIR/shop" "$BATS_TEST_TMPDIR/shop.debug"
  strip "$BATS_TEST_TMPDIR/shop"
  TALLY="unshare -m sh $BATS_TEST_TMPDIR/in.sh $TALLY"
  run --separate-stderr $TALLY trace -x dcpc_min_overflow=1 -qn 'cpc:::page_faults-user-1 /pid == $target/ { @[ufunc(arg1)] = count(); }' \
    -c "$BATS_TEST_TMPDIR/shop"
  gave 'shop`shop::till::ring(char*, long)' 2000
  # tally outside, the process inside, and alive
  TALLY=${TALLY##* }
  run --separate-stderr timeout 60 "$TALLY" trace -x dcpc_min_overflow=1 -qn 'cpc:::page_faults-user-1 /execname == "shop" && progenyof($target)/
      { @[ufunc(arg1)] = count(); } syscall::pause:entry /execname == "shop" && progenyof($target)/ { printa(@); exit(0); }' \
    -c "unshare -m sh $BATS_TEST_TMPDIR/in.sh $BATS_TEST_TMPDIR/shop pause"
  gave 'shop`shop::till::ring(char*, long)' 2000
}

@test "a stripped file has the names that a server of debuginfod sends, if DEBUGINFOD_URLS names one" {
  local id server port
  needs_bpf
  needs python3 objcopy
  ldconfig -p | grep -q libdebuginfod.so.1 || skip "libdebuginfod is not there"
  compile_cc
  id=$(build_id "$BATS_TEST_TMPDIR/shop")
  mkdir -p "$BATS_TEST_TMPDIR/served/buildid/$id"
  objcopy --only-keep-debug "$BATS_TEST_TMPDIR/shop" "$BATS_TEST_TMPDIR/served/buildid/$id/debuginfo"
  strip "$BATS_TEST_TMPDIR/shop"
  has_none
  mkfifo "$BATS_TEST_TMPDIR/port"
  python3 -c 'import functools, http.server, sys
class quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *a): pass
with http.server.HTTPServer(("127.0.0.1", 0), functools.partial(quiet, directory=sys.argv[1])) as s:
    open(sys.argv[2], "w").write(str(s.server_port) + "\n")
    s.serve_forever()' "$BATS_TEST_TMPDIR/served" "$BATS_TEST_TMPDIR/port" 3>&- &
  server=$!
  read -r port <"$BATS_TEST_TMPDIR/port"
  export DEBUGINFOD_URLS="http://127.0.0.1:$port" DEBUGINFOD_CACHE_PATH=$BATS_TEST_TMPDIR/cache
  has_names || { kill "$server"; false; }
  rm -r "$BATS_TEST_TMPDIR/cache"
  DTRACE_OPT_DEBUGINFOD=0 has_none || { kill "$server"; false; }
  kill "$server"
}

# ---- names of processes -----------------------------------------------------------------

@test "procname and pr_fname are the process's name, execname is the thread's" {
  needs_types
  run "$TALLY" trace -qn 'syscall::getppid:entry /pid == $target/ { @[procname, curpsinfo->pr_fname, execname] = count(); }
    END { printa("%s %s %s %@d\n", @); }' -c "$PROGS/crew"
  said 0 $'crew crew crew 10\ncrew crew worker 30'
}

@test "pr_nspid is the process id inside a namespace, pid the one outside" {
  needs_types
  unshare -pf true 2>/dev/null || skip "no namespaces of process ids here"
  run "$TALLY" trace -qn 'syscall::getppid:entry /procname == "crew"/ { @[curpsinfo->pr_nspid, curpsinfo->pr_pid == pid, pid > 1] = count(); }
    END { printa("%d %d %d %@d\n", @); }' -c "unshare -pf $PROGS/crew"
  said 0 "1 1 1 40"
}

# ---- lines ------------------------------------------------------------------------------

# lines_of OPTION...: line is compiled so, and its innermost frames are in `output`.
lines_of() {
  needs g++
  ldconfig -p | grep -q libdw.so.1 || skip "libdw is not there"
  g++ -O1 -g -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer "$@" -o "$BATS_TEST_TMPDIR/line" "$NAME/line.cc"
}

@test "uline() is file and line of an address, uaddr()'s words where it has none" {
  lines_of
  faults '' '@[uline(arg1)] = count();' "$BATS_TEST_TMPDIR/line"
  gave 'line.cc:8' 2000
  strip -g "$BATS_TEST_TMPDIR/line"
  faults '' '@[uline(arg1)] = count();' "$BATS_TEST_TMPDIR/line"
  [ "$(grep -c 'line`outer(char volatile\*, long)+0x' <<<"$output")" -ge 1 ]
}

@test "-x lines: frames have file and line, and inlined functions are frames of their own" {
  lines_of
  faults '-x lines -x ustackframes=2' '@[ustack()] = count();' "$BATS_TEST_TMPDIR/line"
  [[ "$output" == *'line`inner'*' [inlined] [line.cc:8]'*'line`middle'*' [inlined] [line.cc:12]'*'line`outer(char volatile*, long)+0x'*' [line.cc:20]'* ]] ||
    { echo "$output"; false; }
  # the line of a caller is that of the call, not the one behind it
  [[ "$output" == *'line`main+0x'*' [line.cc:28]'* ]] || { echo "$output"; false; }
  folded '-x lines' "$BATS_TEST_TMPDIR/line"
  [[ "$output" == *'line`outer(char volatile*, long);line`middle'*' [inlined];line`inner'*' [inlined] '* ]] || { echo "$output"; false; }
}

@test "lines come from a debug file, and with what dwz moved out of it" {
  lines_of
  ( cd "$BATS_TEST_TMPDIR"
    cp line twin
    objcopy --only-keep-debug line line.debug
    objcopy --only-keep-debug twin twin.debug
    ! command -v dwz >/dev/null || dwz -m "$PWD/both.debug" line.debug twin.debug
    strip line
    objcopy --add-gnu-debuglink=line.debug line )
  faults '' '@[uline(arg1)] = count();' "$BATS_TEST_TMPDIR/line"
  gave 'line.cc:8' 2000
  faults '-x lines -x ustackframes=1' '@[ustack()] = count();' "$BATS_TEST_TMPDIR/line"
  [[ "$output" == *'line`inner'*' [inlined] [line.cc:8]'* ]]
}
