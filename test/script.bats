#!/usr/bin/env bats
# Programs and their sources: order, arguments, options, exact output.  In the vm, so without privileges.
bats_require_minimum_version 1.5.0
load common

setup() { cd "$BATS_TEST_TMPDIR"; }

@test "a quiet program prints what it asks for and an empty line" {
  run bash -c "'$TALLY' trace --on=vm -qn 'BEGIN { printf(\"a %d %s\\n\", 5, \"b\"); exit(0); }' | od -c -An -v"
  said 0 "   a       5       b  \\n  \\n"
}

@test "records have CPU, id and name" {
  run vm -n 'BEGIN { trace(5); trace("x"); exit(0); }'
  said 0 "tally: description 'BEGIN ' matched 1 probe
CPU     ID                    FUNCTION:NAME
  0      1                           :BEGIN           5  x                                "
}

@test "without actions a firing prints a line" {
  run vm -n BEGIN -n 'END' -n 'BEGIN { exit(0); }'
  said 0 "tally: description 'BEGIN' matched 1 probe
tally: description 'END' matched 1 probe
tally: description 'BEGIN ' matched 1 probe
CPU     ID                    FUNCTION:NAME
  0      1                           :BEGIN 
  0      1                           :BEGIN 
  0      2                             :END "
}

@test "aggregations are printed at the end, sorted by value" {
  run vm -qn 'BEGIN { @n["two"] = sum(2); @n["one"] = sum(1); @n["three"] = sum(3); exit(0); }'
  said 0 "
  one                                                               1
  two                                                               2
  three                                                             3"
}

@test "quantize draws its bars" {
  run vm -qn 'BEGIN { @ = quantize(1); @ = quantize(5); @ = quantize(7); exit(0); }'
  said 0 "

           value  ------------- Distribution ------------- count    
               0 |                                         0        
               1 |@@@@@@@@@@@@@                            1        
               2 |                                         0        
               4 |@@@@@@@@@@@@@@@@@@@@@@@@@@@              2        
               8 |                                         0        "
}

@test "sources are compiled in the order of the command line" {
  echo 'BEGIN { trace("file "); }' >a.d
  run vm -q -n 'BEGIN { trace("first "); }' -s a.d -n 'BEGIN { trace("last"); exit(0); }'
  said 0 "first file last"
}

@test "a script comes from a file, from standard input and through #!" {
  echo 'BEGIN { trace("hi"); exit(0); }' >a.d
  run vm -qs a.d
  said 0 "hi"
  run bash -c "'$TALLY' trace --on=vm -qs - <a.d"
  said 0 "hi"
  { echo "#!$(realpath "$TALLY") trace --on=vm -qs"; cat a.d; } >b.d
  chmod +x b.d
  PATH="$(dirname "$(realpath "$TALLY")"):$PATH"
  sed -i '1s|.*|#!/usr/bin/env -S tally trace --on=vm -qs|' b.d
  run ./b.d
  said 0 "hi"
}

@test "arguments reach the script as numbers and strings" {
  echo 'BEGIN { printf("%s %d %s %s", $$1, $2, $$3, $$0); exit(0); }' >a.d
  run vm -qs a.d word 42 -- -n
  said 0 "word 42 -n a.d"
  run vm -qn 'BEGIN { printf("%d", $1 + $2); exit(0); }' 40 2
  said 0 "42"
  run vm -qn 'BEGIN { printf("%s", $1); exit(0); }' -- -5abc
  said 0 "-5abc"
  run vm -qn 'BEGIN { exit($1); }' -- -5abc
  [ "$status" -eq 1 ]
  has '$1 is "-5abc", which is no whole number: it is a string'
}

@test "arguments that are missing or too many are errors, unless asked for" {
  run vm -qn 'BEGIN { trace($1); exit(0); }'
  [ "$status" -eq 1 ]
  has 'macro argument $1 is not defined'
  run vm -qn 'BEGIN { exit(0); }' extra
  [ "$status" -eq 1 ]
  has "extraneous argument 'extra'"
  run vm -n 'BEGIN /1/ { trace(1); exit(0); }' extra
  said 1 "tally: invalid probe specifier BEGIN /1/ { trace(1); exit(0); }: extraneous argument 'extra' (\$1 is not referenced)"
  # A long program leaves room for the reason.
  run vm -n "BEGIN { exit(0); /* $(printf '%600s' '') */ }" extra
  [ "$status" -eq 1 ]
  [[ "$output" == "tally: invalid probe specifier BEGIN { exit(0); /*   "*"...: extraneous argument 'extra' (\$1 is not referenced)" ]]
  echo 'BEGIN { exit(0); }' >mu.d
  run as_dtrace -xerrtags -s mu.d "this is a test"
  said 1 "dtrace: failed to compile script mu.d: [D_MACRO_UNUSED] extraneous argument 'this is a test' (\$1 is not referenced)"
  run vm -x defaultargs -qn 'BEGIN { trace($1); exit(0); }'
  said 0 "0"
  run vm -x argref -qn 'BEGIN { exit(0); }' extra
  [ "$status" -eq 0 ]
}

@test "index of an empty string past the end of the text is its length, not the size of the buffer" {
  run vm -qn 'BEGIN { printf("%d %d %d\n", index("b", "", 255), index("abc", "", 2), index("abc", "", -3)); exit(0); }'
  said 0 "1 2 0"
}

@test "exit(n) is the exit status" {
  for n in 0 1 3 77 255; do
    run vm -qn "BEGIN { exit($n); }"
    [ "$status" -eq $n ]
  done
}

@test "what does not compile ends with status 1 and names file and line" {
  printf 'BEGIN\n{\n\ttrace(5;\n}\n' >bad.d
  run vm -s bad.d
  said 1 "tally: failed to compile script bad.d: line 3: syntax error near \";\""
  run as_dtrace --on=vm -s bad.d
  said 1 "dtrace: failed to compile script bad.d: line 3: syntax error near \";\""
  run vm -n 'BEGIN { trace(nosuch); }'
  [ "$status" -eq 1 ]
  has "tally: invalid probe specifier BEGIN { trace(nosuch); }: "
}

@test "an error names the file that #line names, whether it is found by the parser or behind it" {
  for line in '#line 77 "foo.d"' '# 77 "foo.d"' '#pragma D line 77 "foo.d"'; do
    printf '%s\nBEGIN { trace(; }\n' "$line" >a.d
    run vm -s a.d
    said 1 'tally: failed to compile script a.d: "foo.d", line 77: syntax error near ";"'
    for clause in '%s\nBEGIN { trace(xx); }\n' 'BEGIN { trace(1);\n%s\n if (xx) { trace(2); } }\n' '%s\nBEGIN, END /xx/ { trace(1); }\n'; do
      printf "$clause" "$line" >a.d
      run vm -s a.d
      said 1 'tally: failed to compile script a.d: "foo.d", line 77: failed to resolve xx: Unknown variable name'
    done
    # found by the types
    printf '%s\nBEGIN { trace(1); }\nBEGIN { trace("a" * 2); }\n' "$line" >a.d
    run vm -s a.d
    [ "$status" -eq 1 ] && has '"foo.d", line 78: '
    # behind a line that names no file
    printf '%s\nBEGIN { trace(1); }\n#line 3\nBEGIN { trace(xx); }\n' "$line" >a.d
    run vm -s a.d
    said 1 'tally: failed to compile script a.d: line 3: failed to resolve xx: Unknown variable name'
  done
}

@test "a file that cannot be read ends with status 1" {
  run vm -s nosuch.d
  said 1 "tally: failed to open nosuch.d: No such file or directory"
  run vm -s .
  said 1 "tally: failed to open .: Is a directory"
}

@test "options of the language come from -x, the environment and pragmas, in this order of rank" {
  echo 'BEGIN { trace("x"); exit(0); }' >a.d
  { echo '#pragma D option quiet'; cat a.d; } >quiet.d
  run vm -s quiet.d
  said 0 "x"
  run vm -x quiet -s a.d
  said 0 "x"
  DTRACE_OPT_QUIET= run vm -s a.d
  said 0 "x"
  DTRACE_OPT_quiet=1 run vm -s a.d
  said 0 "x"
  DTRACE_OPT_STRSIZE=8 run vm -qn 'BEGIN { trace(strjoin("0123456789", "x")); exit(0); }'
  said 0 "01234567"
  DTRACE_OPT_STRSIZE=8 run vm -x strsize=16 -qn 'BEGIN { trace(strjoin("0123456789", "x")); exit(0); }'
  said 0 "0123456789x"
}

@test "wrong options of the language end with status 2" {
  run vm -x strsice=8 -n BEGIN
  [ "$status" -eq 2 ]
  has "tally: failed to set -x strsice: "
  run vm -x strsize=lots -n BEGIN
  [ "$status" -eq 2 ]
  run vm -b lots -n BEGIN
  [ "$status" -eq 2 ]
  has "bufsize"
}

@test "an option in DTRACE_OPT_ that is another dtrace's is accepted, not refused" {
  DTRACE_OPT_CPPARGS=-nostdinc run vm -qn 'BEGIN { trace("x"); exit(0); }'
  said 0 "x"
  DTRACE_OPT_NOSUCH=1 run vm -qn 'BEGIN { trace("x"); exit(0); }'
  said 0 "tally: DTRACE_OPT_NOSUCH=1 is ignored: failed to set -x nosuch: Invalid option name
tally: there is no option nosuch: OPTIONS OF THE LANGUAGE in tally-trace(1) lists them
x"
  DTRACE_OPT_STRSIZE=lots run vm -qn 'BEGIN { trace("x"); exit(0); }'
  [ "$status" -eq 0 ]
  has "tally: DTRACE_OPT_STRSIZE=lots is ignored: "
  has "tally: option strsize takes a number of bytes (512, 8k, 4m, 1g, 1t), not 'lots'"
}

# The options of dtrace(1), of illumos and of Oracle, each with a value that is legal there.
dtrace_options="aggpercpu aggrate=1s aggsize=8k aggsortkey aggsortkeypos=0 aggsortpos=0 aggsortrev aggzoom amin=Stable argref bpflog=no bpflogsize=16m
  btfpath=/x bufpolicy=ring bufresize=manual bufsize=64k cleanrate=101hz core cpp=no cppargs=-P cpphdrs=no cpppath=/bin/cpp ctfpath=/x ctypes=/x debug
  debugassert defaultargs define=A=1 destructive=no disasm=7 droptags dtypes=/x dynvarsize=64k empty encoding=ascii errtags evaltime=main flowindent=no
  grabanon incdir=/x iregs=9 jstackframes=5 jstackstrsize=512 kdefs knodefs late=dynamic lazyload ldpath=/bin/ld libdir=/ linkmode=kernel linknommap
  linktype=dof lockmem=unlimited maxframes=64 modpath=/x nolibs=no noresolve nspec=2 objcopypath=/x pcapsize=100 pgmax=8 preallocate=1m printsize=64
  procfspath=/proc pspec=no quiet quietresize rawbytes=no scratchsize=512 setenv=A=b specsize=8k stackframes=4 stackindent=2 statusrate=2s stdc=a strip
  strsize=64 switchrate=10hz sysslice temporal tree=1 tregs=9 udefs undef=A unodefs unsetenv=A ustackframes=4 useruid verbose=no
  version=1.6 zdefs"

@test "every option of dtrace(1) is taken on the command line, from the environment and in a pragma" {
  cd "$BATS_TEST_TMPDIR"
  local o name given=() environment=()
  : >p.d
  for o in $dtrace_options; do
    name=${o%%=*}
    given+=(-x "$o")
    environment+=("DTRACE_OPT_${name^^}=${o#"$name"}")
    [[ $o == *=* ]] && environment[-1]="DTRACE_OPT_${name^^}=${o#*=}"
    echo "#pragma D option $o" >>p.d
  done
  echo 'BEGIN { trace("ran"); exit(0); }' >>p.d
  run vm -q "${given[@]}" -n 'BEGIN { trace("ran"); exit(0); }'
  said 0 "ran"
  run env "${environment[@]}" "$TALLY" trace --on=vm -n 'BEGIN { trace("ran"); exit(0); }'
  said 0 "ran"
  run vm -s p.d
  said 0 "ran"
}

@test "setopt() sets an option while a program runs, or says why it can't" {
  local o program=
  # those that Oracle's guide calls dynamic, and what has no effect
  for o in aggrate=1s aggsortkey aggsortkeypos=0 aggsortpos=0 aggsortrev aggzoom flowindent=no quiet quietresize stackindent=2 switchrate=10hz \
    printsize=64 rawctl=yes grabanon; do
    case $o in
      *=*) program+="setopt(\"${o%%=*}\", \"${o#*=}\"); " ;;
      *) program+="setopt(\"$o\"); " ;;
    esac
  done
  run vm -n "BEGIN { $program trace(\"set\"); exit(0); }"
  [ "$status" -eq 0 ]
  has "set"
  [[ "$output" != *"couldn't"* ]]
  run vm -qx strsize=9 -n 'BEGIN { trace("ab"); } BEGIN { setopt("rawbytes"); trace("ab"); exit(0); }'
  [ "$status" -eq 0 ]
  has "ab
             0  1  2  3"
  run vm -qn 'BEGIN { setopt("strsize", "12"); exit(0); }'
  has "couldn't set option \"strsize\" to \"12\": Operation illegal when tracing is active"
  run vm -qn 'BEGIN { setopt("nosuch"); exit(0); }'
  has "couldn't set option \"nosuch\" to \"\": Invalid option name; there is no option nosuch: OPTIONS OF THE LANGUAGE"
  run vm -qn 'BEGIN { setopt("quiet", "maybe"); exit(0); }'
  has "couldn't set option \"quiet\" to \"maybe\": Invalid value for specified option; option quiet takes no value, or 0, 1"
  run vm -qn '#pragma D option nosuch'
  has "tally: there is no option nosuch: OPTIONS OF THE LANGUAGE in tally-trace(1) lists them"
}

@test "an option that changes what is printed and is not there says so, in each way to set it" {
  run vm -x oformat=json -n BEGIN
  said 2 "tally: failed to set -x oformat: not supported: --json, and the suffix of the file of -o, say what form answers have"
  run vm -x aggpack -n BEGIN
  said 2 "tally: failed to set -x aggpack: not supported: a histogram has a line for each of its values"
  run vm -n '#pragma D option agghist
BEGIN { exit(0); }'
  has "failed to set option 'agghist': not supported: quantize() and lquantize() draw bars"
  DTRACE_OPT_AGGHIST=1 run vm -qn 'BEGIN { exit(0); }'
  has "DTRACE_OPT_AGGHIST=1 is ignored: failed to set -x agghist: not supported: "
}

@test "a value that is no number is told apart from one out of range" {
  local row
  for row in "strsize=abc:a number of bytes (512, 8k, 4m, 1g, 1t), not 'abc'" "strsize=1:2 to 4096 bytes" "bufsize=-1:1 to 1099511627776 bytes" \
    "bufsize=1x:a number of bytes (512, 8k, 4m, 1g, 1t), not '1x'" "switchrate=soon:a time (50ms, 1s) or a rate (10hz), not 'soon'" \
    "nspec=many:a number, not 'many'" "stackframes=99999999999999999999:1 to 4294967295" "bufpolicy=rnig:ring, fill or switch" "stdc=x:a, c, s or t" \
    "setenv=A:NAME=VALUE" "unsetenv=A=b:NAME"; do
    run vm -x "${row%%:*}" -n BEGIN
    said 2 "tally: failed to set -x ${row%%=*}: Invalid value for specified option
tally: option ${row%%=*} takes ${row#*:}"
  done
  run vm -e -x specsize=1T -x dynvarsize=1t -n BEGIN
  said 0 ""
  run vm -e -x specsize=2t -n BEGIN
  has "option specsize takes 0 to 1099511627776 bytes"
}

@test "setenv and unsetenv change the environment of the command of -c" {
  export TALLY_GOES=1
  run vm -q -x setenv=TALLY_COMES=2 -x unsetenv=TALLY_GOES -c 'sh -c "echo $TALLY_COMES${TALLY_GOES+there}"' -n 'BEGIN { }'
  said 0 "2"
}

@test "the vm waits for the end of the command of -c" {
  run vm -q -c "sh -c 'seq 300000 | tail -n 1'" -n 'BEGIN { } END { printf("end\n"); }'
  said 0 $'300000\nend'
}

@test "-D and the other options for cpp do nothing without -C, and are no error" {
  run vm -DARCH_x86_64 -D X=1 -UY -I. -H -Xs -x cppargs=-nostdinc -x define=X -qn 'BEGIN { trace("x"); exit(0); }'
  said 0 "x"
}

@test "a chain of 200 conditions has one value; more values at once than there is room for are refused with what to do" {
  local chain="" sum="x" i
  for i in $(seq 0 199); do chain+="x == $i ? $((i * 3)) : "; done
  run vm -qn "BEGIN { x = 150; y = $chain -1; x = 200; z = $chain -1; printf(\"%d %d\", y, z); exit(0); }"
  said 0 "450 -1"
  for i in $(seq 200); do sum="x + ($sum)"; done
  run vm -qn "BEGIN { x = 1; y = $sum; exit(0); }"
  said 3 "tally: line 1: this clause has too many values alive at once: assign parts of its expressions to variables first"
}

@test "-C takes a C header that defines inline functions" {
  command -v cpp >/dev/null || skip "no cpp"
  cd "$BATS_TEST_TMPDIR"
  printf '__extension__ static __inline int\ntwice (int x)\n{\n  { return x + x; }\n}\nstatic __inline__ int one(void) { return 1; }\n' >h.h
  printf '#include "h.h"\nBEGIN { trace(7); exit(0); }\n' >h.d
  run vm -qC -s h.d
  said 0 "7"
}

@test "-C takes the headers that scripts include, with open arrays, names for the assembler and large enumerators" {
  command -v cpp >/dev/null || skip "no cpp"
  local h n=0
  cd "$BATS_TEST_TMPDIR"
  for h in sys/socket.h netinet/in.h netinet/ip.h netinet/tcp.h net/if.h arpa/inet.h netdb.h sys/un.h sys/epoll.h sys/types.h sys/stat.h sys/mman.h sys/wait.h \
    sys/time.h sys/resource.h sys/sysinfo.h stdlib.h unistd.h stdio.h string.h fcntl.h signal.h time.h errno.h stdint.h pthread.h math.h wchar.h regex.h poll.h \
    linux/fs.h linux/types.h linux/perf_event.h linux/tcp.h; do
    echo "#include <$h>" | cpp >/dev/null 2>&1 || continue
    printf '#include <%s>\nBEGIN { trace(7); exit(0); }\n' "$h" >h.d
    run vm -qC -s h.d
    said 0 "7" || { echo "$h"; return 1; }
    n=$((n + 1))
  done
  [ "$n" -ge 20 ] || skip "only $n headers are here"
}

@test "a function is told as no part of D, and one of a header that has no end names the header" {
  command -v cpp >/dev/null || skip "no cpp"
  cd "$BATS_TEST_TMPDIR"
  printf 'int f(int a) { return a; }\nBEGIN { exit(0); }\n' >f.d
  run vm -q -s f.d
  said 1 'tally: failed to compile script f.d: line 1: syntax error near "{"; D has no functions: an inline gives an expression a name, and a clause runs statements'
  run vm -qC -s f.d
  [ "$status" -eq 1 ]
  has 'line 1: syntax error near "{"; D has no functions'
  printf 'static int f(int a)\n{ return a;\n' >f.h
  printf '#include "f.h"\n' >f.d
  run vm -qC -s f.d
  [ "$status" -eq 1 ]
  has 'syntax error near end-of-input'
}

@test "what the end of a script cuts off is told with the line where it begins, but to dtrace(1)'s users" {
  cd "$BATS_TEST_TMPDIR"
  printf 'BEGIN\n{\n\ttrace(1);\n' >open.d
  printf 'BEGIN { }\n/* never\nends\n' >comment.d
  run vm -x errtags -s open.d
  said 1 'tally: failed to compile script open.d: [D_SYNTAX] line 4: syntax error near end-of-input; the "{" of line 2 has no "}"'
  run vm -x errtags -s comment.d
  said 1 'tally: failed to compile script comment.d: [D_SYNTAX] line 4: end-of-file encountered before matching */; the comment begins in line 2'
  run as_dtrace -x errtags -s open.d
  said 1 'dtrace: failed to compile script open.d: [D_SYNTAX] line 4: syntax error near end-of-input'
  run as_dtrace -s comment.d
  said 1 'dtrace: failed to compile script comment.d: line 4: end-of-file encountered before matching */'
  printf 'BEGIN { trace("abc' >string.d
  run vm -s string.d
  said 1 'tally: failed to compile script string.d: line 1: syntax error near end-of-input; the string of line 1 has no closing "'
  run as_dtrace -s string.d
  said 1 'dtrace: failed to compile script string.d: line 1: syntax error near end-of-input'
}

@test "a NUL in a script is an error: nothing behind it is dropped in silence" {
  printf 'BEGIN { exit(0); }\n\0 garbage' >"$BATS_TEST_TMPDIR/n.d"
  run vm -q -s "$BATS_TEST_TMPDIR/n.d"
  [ "$status" -eq 1 ]
  has 'line 2: syntax error near "\x00"'
}

@test "an error in an included header names the header and its line" {
  command -v cpp >/dev/null || skip "no cpp"
  cd "$BATS_TEST_TMPDIR"
  printf '\n\nint a[];\n' >bad.h
  printf '#include "bad.h"\nBEGIN { exit(0); }\n' >b.d
  run vm -qC -s b.d
  said 1 'tally: failed to compile script b.d: "./bad.h", line 3: array declaration requires array dimension or tuple signature
tally: say how many elements it has, name[16], or what its keys are, name[string, int]'
  printf 'int ok;\n' >bad.h
  printf '#include "bad.h"\nBEGIN { trace(nosuch); }\n' >b.d
  run vm -qC -s b.d
  [ "$status" -eq 1 ]
  has 'failed to compile script b.d: line 2: failed to resolve nosuch'
}

@test "-C runs cpp with -D, -U and -I in their order, and lines keep their numbers" {
  command -v cpp >/dev/null || skip "no cpp"
  cd "$BATS_TEST_TMPDIR"; mkdir inc; echo '#define WIDTH 40' >inc/width.h
  printf '#include "width.h"\n#ifdef OFF\nbad\n#endif\nBEGIN { printf("%%d %%d", WIDTH, N); exit(__SUNW_D - 1); }\n' >c.d
  run vm -qC -I inc -D N=7 -D OFF -U OFF -s c.d
  said 0 "40 7"
  run vm -C -I inc -s c.d
  [ "$status" -eq 1 ]
  has "failed to compile script c.d: line 5: failed to resolve N"
  DTRACE_OPT_DEFINE=N=8 run vm -x cpp -x incdir=inc -qs c.d
  said 0 "40 8"
  printf '#!/usr/sbin/dtrace -Cs\n#define X 3\nBEGIN { trace(X); exit(0); }\n' >i.d
  run vm -qCs i.d
  said 0 "3"
}

@test "a preprocessor that fails, or is not there, is told with the program's name" {
  run vm -C -x cpppath=/nosuch/cpp -n 'BEGIN { exit(0); }'
  [ "$status" -eq 3 ]
  has "invalid probe specifier BEGIN { exit(0); }: Preprocessor failed to process input program"
  has "cannot run /nosuch/cpp: is it installed"
  echo 'BEGIN { exit(0); }' >"$BATS_TEST_TMPDIR/a.d"
  run vm -C -x cpppath=/nosuch/cpp -s "$BATS_TEST_TMPDIR/a.d"
  has "failed to compile script $BATS_TEST_TMPDIR/a.d: Preprocessor failed to process input program"
  run vm -C -x cpppath=false -n 'BEGIN { exit(0); }'
  [ "$status" -eq 1 ]
  has "false exited with status 1"
  run vm -Xq -n 'BEGIN { exit(0); }'
  has "failed to set -x stdc: Invalid value for specified option"
}

@test "-i takes the id of a probe, with predicate and actions, and refuses what is none" {
  run vm -qi '1 /pid/ { trace("one"); exit(0); }'
  said 0 "one"
  run vm -i 0
  said 1 "tally: invalid probe specifier 0: invalid probe identifier 0: Unknown probe identifier"
  run vm -i 0-2
  said 1 "tally: invalid probe specifier 0-2: invalid probe identifier 0: Unknown probe identifier"
}

@test "-F has a heading and a line of its own, -S lists instructions, -64 is accepted and -63 is not" {
  run vm -F -n 'BEGIN { trace(1); exit(0); }'
  [ "$status" -eq 0 ]
  has "CPU FUNCTION  "
  has "  0  | :BEGIN   "
  run vm -S -qn 'BEGIN { exit(0); }'
  has "Disassembly of clause :::BEGIN"
  has "0000 00000: bf 6 1 0000 00000000    r6 = r1"
  run vm -64 -qn 'BEGIN { trace(sizeof(long)); exit(0); }'
  said 0 "8"
  run vm -63 -n BEGIN
  [ "$status" -eq 2 ]
}

@test "a string of strsize 5 has five characters, whoever made it" {
  run vm -x strsize=5 -qn 'string g; BEGIN { g = "abcdefgh"; printf("%s %s %s", g, strjoin("abc", "def"), "123456"); exit(0); }'
  said 0 "abcde abcde 12345"
}

@test "a string of strsize 8 has eight characters, and one of 256 as many" {
  run vm -x strsize=8 -qn 'string g; BEGIN { g = "abcdefghij"; printf("%s %s %s", g, strjoin("abcde", "fghij"), "1234567890"); exit(0); }'
  said 0 "abcdefgh abcdefgh 12345678"
  run vm -qn "BEGIN { x = \"$(printf '_%.0s' $(seq 253))XYZ and more\"; printf(\"%s %s %d\", substr(x, 253), strtok(strjoin(x, \"\"), \"_\"), strlen(x)); exit(0); }"
  said 0 "XYZ XYZ 256"
  run vm -x strsize=16 -qn 'string s; BEGIN { t = "a"; printf("%d %d %d", sizeof (s), sizeof (t), sizeof ("abc")); exit(0); }'
  said 0 "16 16 4"
}

@test "the sum of two char is a char and no int, that of char and int an int" {
  run vm -qn 'signed char c[int]; unsigned char C[int]; short s; unsigned short S;
    BEGIN {
      c[0] = -3; C[0] = 254; s = -300; S = 65000; this->l = (long)1;
      printf("%d %d %d %d|", c[0] + C[0], C[0] + C[0], S + S, s * C[0]);
      printf("%d %d %d %d|", C[0] / c[0], S % s, c[0] - C[0], S ^ c[0]);
      printf("%d %d %d %d|", C[0] + 2, c[0] + this->l, C[0] > c[0], s < S);
      C[0] /= c[0]; printf("%d %d", C[0], (unsigned char)200 + (unsigned char)100);
      exit(0);
    }'
  # by hand: 253 + 254 = 251 mod 256; 252; 64464; -76200 is -10664 as a short; 254 / 253; 65000 % 65236; 253 - 254; 65000 ^ 65533
  said 0 "251 252 64464 -10664|1 65000 255 533|256 -2 1 1|1 44"
}

@test "an operation in a predicate that is wrong is told at the line of what follows, as dtrace(1) does" {
  printf 'BEGIN\n/"a" & "b"/\n{\n exit(0);\n}\n' >"$BATS_TEST_TMPDIR/a.d"
  run as_dtrace -xerrtags -s "$BATS_TEST_TMPDIR/a.d"
  [ "$status" -eq 1 ]
  has "[D_OP_INT] line 3: operator & requires operands of integral type"
}

@test "frames go as far as kernel.perf_event_max_stack, also above 127" {
  needs_bpf
  was=$(cat /proc/sys/kernel/perf_event_max_stack)
  echo 200 2>/dev/null >/proc/sys/kernel/perf_event_max_stack || skip "kernel.perf_event_max_stack can't be set here"
  run "$TALLY" trace -x dcpc_min_overflow=1 -qn 'cpc:::page_faults-all-1 /pid == $target/ { @d = max(ustackdepth); }
    END { printa("%@d", @d); exit(0); }' -c "$PROGS/deep 150 3"
  until echo "$was" 2>/dev/null >/proc/sys/kernel/perf_event_max_stack || [ $SECONDS -gt 300 ]; do :; done # busy until the kernel has freed its stacks
  [ "$status" -eq 0 ]
  [ "$(grep -oE "^ *[0-9]+$" <<<"$output" | tail -1)" -gt 140 ] || { echo "$output"; return 1; }
  run "$TALLY" trace -x dcpc_min_overflow=1 -qn 'BEGIN { @[ustack(180)] = count(); exit(0); }' # more than the kernel has now
  [ "$status" -eq 0 ]
}

@test "strtoll() has the value that strtoll(3) has, in every base" {
  python3 -c '' || skip "python3 computes what is expected"
  python3 - >"$BATS_TEST_TMPDIR/a.d" <<'EOF'
import random
random.seed(7)
digits = "0123456789abcdefghijklmnopqrstuvwxyz"
print("string s;")
for n in range(60):
    base = random.choice([2, 8, 10, 10, 10, 16, 16, 36, 7])
    value = random.choice([0, 1, 9, 35, 255, 2**31, 2**62, 2**63 - 1, random.getrandbits(63), random.getrandbits(20)])
    text, v = "", value
    while v or not text:
        text, v = digits[v % base] + text, v // base
    if random.random() < .3:
        text = text.upper()
    sign = random.choice(["", "", "-", "+"])
    prefix = random.choice(["0x", "0X", ""]) if base == 16 else ""
    after = random.choice(["", " ", "!1", "-", "{", "/", ":", "@", "`"])
    text = random.choice(["", " ", r"\t \n"]) + sign + prefix + "0" * random.choice([0, 0, 3, 70]) + text + after
    want = -value if sign == "-" else value
    call = "strtoll(s%s)" % ("" if base == 10 and random.random() < .5 else ", %d" % base)
    print(r'BEGIN { s = "%s"; } BEGIN / %s != %d / { printf("%%s base %d: %%d\n", s, %s); }' % (text, call, want, base, call))
for text in ["", "x", "-", "+", "- 1", "0x", " ", "--1", "0xg"]:
    print(r'BEGIN / strtoll("%s", 16) != 0 / { printf("%s\n"); }' % (text, text))
print('BEGIN { printf("end"); exit(0); }')
EOF
  run vm -qs "$BATS_TEST_TMPDIR/a.d"
  said 0 "end"
  run vm -qn 'BEGIN { x = 3; trace(strtoll("1", x)); }'
  [ "$status" -eq 1 ]
  has "strtoll( ) argument #2 is incompatible with prototype"
}

@test "-x aggzoom draws the longest bar whole, else a bar is the share in all" {
  for row in "aggzoom=off:13" "aggzoom:20"; do
    run vm -x "${row%:*}" -qn 'BEGIN { @ = quantize(5); @ = quantize(5); @ = quantize(9); exit(0); }'
    [ "$(grep -E '^ +8 ' <<<"$output" | tr -cd @ | wc -c)" -eq "${row#*:}" ]
  done
}

@test "print() of a pointer computes it once" {
  run vm -qn 'int *p; BEGIN { p = (int *)alloca(16); *p = 7; p[1] = 9; p[2] = 11; print(p++); printf("|%d|", *p); print(p); exit(0); }'
  [ "$status" -eq 0 ]
  [[ "$output" == *"(int)7"*"|9|"*"(int)9"* ]]
}

@test "the vm refuses what asks a process, by name and when the script compiles" {
  for call in 'x = copyin(arg0, 4)' 'trace(copyinstr(arg0))' 'copyinto(arg0, 4, alloca(4))' 'trace(copyinstr(arg0, 8))' \
    'copyout(alloca(4), arg0, 4)' 'copyoutstr("a", arg0, 2)' 'trace(progenyof(1))'; do
    run vm -wqn "BEGIN { $call; exit(0); }"
    [ "$status" -eq 1 ]
    has "in action list: $(grep -oE '(copy|progeny)[a-z]+' <<<"$call")( ) is about a process: there is none where this runs"
  done
}

@test "a record larger than bufsize is refused when tracing begins, with its line" {
  run vm -x bufsize=20 -n 'BEGIN { trace(1); trace(2); exit(0); }'
  [ "$status" -eq 1 ]
  has "could not enable tracing: Enabling exceeds size of buffer"
  run vm -xerrtags -x bufsize=20 -n 'BEGIN { trace(1); trace(2); exit(0); }'
  has "could not enable tracing: [D_LIMIT] Enabling exceeds size of buffer"
  has "the record of the clause at line 1 has 76 bytes with what stands around it, and bufsize is 20"
  run vm -x bufsize=59 -n 'BEGIN { exit(0); }'
  [ "$status" -eq 1 ]
  run vm -x bufsize=60 -qn 'BEGIN { exit(0); }'
  [ "$status" -eq 0 ]
}

@test "under the name dtrace a refusal has one line, as scripts compare it, and status 1" {
  run as_dtrace -x strsice=4 -n BEGIN
  said 1 "dtrace: failed to set -x strsice: Invalid option name"
  run as_dtrace -n 'nosuch:::probe'
  said 1 "dtrace: invalid probe specifier nosuch:::probe: probe description nosuch:::probe does not match any probes"
}

@test "a description with more parts than -P, -m or -f takes is refused, not taken for another one" {
  run vm -lP profile:::tick-1s
  said 1 'tally: invalid probe specifier profile:::tick-1s: invalid probe description "profile:::tick-1s": Overspecified probe description'
  run vm -m 'a:b:c { exit(0); }'
  [ "$status" -eq 1 ]
  has 'invalid probe description "a:b:c": Overspecified probe description'
  run vm -f a:b:c:d
  [ "$status" -eq 1 ]
}

@test "a refusal of -P, -m or -f shows what was written, not what it was completed to" {
  run as_dtrace -m profile
  said 1 "dtrace: invalid probe specifier profile: probe description :profile:: does not match any probes"
  run as_dtrace -f read:
  said 1 "dtrace: invalid probe specifier read:: probe description :read:: does not match any probes"
  run as_dtrace -P profile '{ trace(1); }'
  said 1 "dtrace: invalid probe specifier profile: extraneous argument '{ trace(1); }' (\$1 is not referenced)"
}

@test "a probe's number is refused where a provider, module or function is asked for" {
  run as_dtrace -f 4.56
  said 1 "dtrace: invalid probe specifier 4.56: probe identifier 4 not permitted when specifying functions"
  run as_dtrace -lP 1
  said 1 "dtrace: invalid probe specifier 1: probe identifier 1 not permitted when specifying providers"
}

@test "-l lists what matches, and says of each description that doesn't that it doesn't" {
  run vm -l -n dtrace:::BEGIN -n nosuch:::probe -n dtrace:::END -n other:::probe
  [ "$status" -eq 1 ]
  has "BEGIN"
  has "END"
  has "failed to match nosuch:::probe: No probe matches description"
  has "failed to match other:::probe: No probe matches description"
}

@test "a probe's number that nothing has is an error with -Z and -l, too" {
  run vm -Zn 99999
  [ "$status" -eq 1 ]
  has "invalid probe identifier 99999: Unknown probe identifier"
  run vm -li 99999
  [ "$status" -eq 1 ]
  has "invalid probe identifier 99999: Unknown probe identifier"
}

@test "an array with more keys than -x tregs is refused" {
  run vm -qn 'BEGIN { a[1, 2, 3, 4, 5, 6, 7, 8, 9] = 4; trace(a[1, 2, 3, 4, 5, 6, 7, 8, 9]); exit(0); }'
  [ "$status" -eq 1 ]
  has "Insufficient tuple registers to generate code"
  has "a[ ] has 9 keys, and -x tregs=8 allows 8"
  run vm -x tregs=9 -qn 'BEGIN { a[1, 2, 3, 4, 5, 6, 7, 8, 9] = 4; trace(a[1, 2, 3, 4, 5, 6, 7, 8, 9]); exit(0); }'
  said 0 "4"
}

@test "of an argument and its conversion that both are wrong, the argument is told" {
  run vm -qxerrtags -n 'struct { int f : 3; } s; BEGIN { printf("%n", sizeof(s.f)); }'
  [ "$status" -eq 1 ]
  has "[D_SIZEOF_BITFIELD]"
}

@test "-x version takes the versions of D that there are, written as numbers" {
  run vm -x version=1.6.2 -qn 'BEGIN { exit(0); }'
  said 0 ""
  run vm -x version=2.0 -qn 'BEGIN { exit(0); }'
  said 0 ""
  for version in 2.1 2.0.1 3 0.9; do
    run vm -x version=$version -qn 'BEGIN { exit(0); }'
    [ "$status" -eq 2 ]
    has "failed to set -x version: Requested version is not supported by compiler"
  done
  run vm -x version=1.x -qn 'BEGIN { exit(0); }'
  [ "$status" -eq 2 ]
  has "failed to set -x version: Version is not properly formatted or is too large"
}

@test "with -x pspec a word with a star is a description, though it begins with a type's name" {
  run vm -en 'int*x;'
  said 0 ""
  run vm -x pspec -en 'int*x;'
  [ "$status" -eq 1 ]
  has "probe description :::int*x does not match any probes"
}

@test "-x rawbytes shows texts as bytes" {
  run vm -qn 'BEGIN { trace("A"); exit(0); }'
  said 0 "A"
  run vm -x rawbytes -qn 'BEGIN { trace("A"); exit(0); }'
  [ "$status" -eq 0 ]
  has "0: 41 "
}

@test "-x rawbytes shows as many bytes of a text as it has room for, and its NUL" {
  run vm -x rawbytes -x strsize=5 -qn 'BEGIN { x = "12"; trace(x); trace("abcdefgh"); trace(substr(x, 1)); exit(0); }'
  [ "$status" -eq 0 ]
  has "0: 31 32 00 00 00 00  "
  has "0: 61 62 63 64 65 00  "
  has "0: 32 00 00 00 00 00  "
}

@test "-x cpu refuses a CPU that is not there" {
  run vm -x cpu=1 -qn 'BEGIN { exit(0); }'
  [ "$status" -eq 1 ]
  has "failed to set -x cpu: there are CPUs 0 to 0"
  run vm -x cpu=0 -qn 'tick-1ms { exit(4); }'
  [ "$status" -eq 4 ]
}

@test "-x cpu leaves out the events of other CPUs" {
  needs_bpf
  [ "$(nproc)" -gt 1 ] || skip "one CPU"
  cat >"$BATS_TEST_TMPDIR/d" <<'D'
syscall::getppid:entry /pid == $target/ { @[cpu] = count(); }
D
  run "$TALLY" trace -x cpu=1 -qs "$BATS_TEST_TMPDIR/d" -c "sh -c 'taskset -c 0 perl -e getppid; taskset -c 1 perl -e getppid'"
  [ "$status" -eq 0 ]
  [[ $output != *"  0  "* ]]
}

@test "ustackdepth counts no more frames than maxframes has" {
  needs_bpf
  run "$TALLY" trace -x maxframes=2 -qn 'syscall::exit_group:entry /pid == $target/ { printf("%d", ustackdepth); }' -c "sh -c true"
  [ "$status" -eq 0 ]
  [[ $output =~ ^[12][[:space:]]*$ ]]
  run "$TALLY" trace -x maxframes=1 -qn 'syscall::exit_group:entry /pid == $target/ { printf("%d", ustackdepth); }' -c "sh -c true"
  [[ $output =~ ^1[[:space:]]*$ ]]
}

@test "ustackdepth counts the frames that ustack() prints, also where the walk ends at an address of 0" {
  needs_bpf
  # Programs and the C library keep no frame pointers here: a walk ends at what stands in that register.
  for program in "sh -c 'echo a'" "perl -e 1" "ls /"; do
    run "$TALLY" trace -qn 'syscall:::entry /pid == $target/ { printf("depth %d\n", ustackdepth); ustack(); }' -c "$program"
    [ "$status" -eq 0 ]
    awk '/^depth / { if (shown != depth) { print depth, shown; exit 1 } depth = $2; shown = 0; stacks++ }
         /^ +[^ ]/ { shown++ } END { exit shown != depth || stacks < 10 }' <<<"$output"
  done
}

@test "a histogram without keys has room for all of its buckets" {
  needs_bpf
  {
    echo 'BEGIN { @q = quantize(0); @q = quantize(0x8000000000000000); }'
    for k in $(seq 0 62); do echo "BEGIN { @q = quantize(1ll << $k); @q = quantize(-(1ll << $k)); }"; done
    for v in $(seq -1 10); do echo "BEGIN { @l = lquantize($v, 0, 10); }"; done
    for v in 0 $(seq 10) $(seq 20 10 100); do echo "BEGIN { @ll = llquantize($v, 10, 0, 1, 10); @ll = llquantize(-$v, 10, 0, 1, 10); }"; done
    echo 'BEGIN { exit(0); }'
  } >"$BATS_TEST_TMPDIR/d"
  run "$TALLY" trace -qs "$BATS_TEST_TMPDIR/d"
  [ "$status" -eq 0 ]
  [ "$output" = "$("$TALLY" trace --on=vm -qs "$BATS_TEST_TMPDIR/d" 2>&1)" ]
  [[ $output != *drop* ]]
  [ "$(grep -c '|@*  *1 *$' <<<"$output")" -gt 130 ]
}

@test "-x noresolve leaves user addresses as numbers" {
  needs_bpf
  run "$TALLY" trace -x noresolve -qn 'syscall::exit_group:entry /pid == $target/ { ustack(1); }' -c true
  [ "$status" -eq 0 ]
  [[ $output =~ ^[[:space:]]*0x[0-9a-f]+[[:space:]]*$ ]]
}

@test "-x bpflog prints what the verifier says of a program that it takes" {
  needs_bpf
  run "$TALLY" trace -qx bpflog -n 'BEGIN { exit(0); }'
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == "BPF: "* ]]
  has "BPF: processed "
}

@test "with -x aggrate a printa() so soon after another shows what that one did" {
  needs_bpf
  run "$TALLY" trace -qx aggrate=1h -n 'BEGIN { @ = count(); printa("%@d ", @); } tick-10ms { @ = count(); printa("%@d ", @); n++; } tick-10ms /n == 3/ { exit(0); }'
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == "1 1 1 1 "* ]]
  run "$TALLY" trace -qn 'BEGIN { @ = count(); printa("%@d ", @); } tick-10ms { @ = count(); printa("%@d ", @); n++; } tick-10ms /n == 3/ { exit(0); }'
  [[ ${lines[0]} == "1 2 3 4 "* ]]
}

@test "an aggrate of less than switchrate does not show what was there before the record" {
  needs_bpf
  run "$TALLY" trace -qx aggrate=1h -x switchrate=2h -n 'BEGIN { @ = count(); printa("%@d ", @); } tick-10ms { @ = count(); printa("%@d ", @); n++; } tick-10ms /n == 3/ { exit(0); }'
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == "1 2 3 4 "* ]] || { echo "$output"; return 1; }
}

@test "what cpp says is of the file /dev/stdin, and includes are found beside the user" {
  command -v cpp >/dev/null || skip "no cpp"
  cd "$BATS_TEST_TMPDIR"
  printf '#include "mine.h"\nBEGIN { printf("%%d", MINE); exit(0); }\n' >d
  run vm -Cqs d
  [ "$status" -eq 1 ]
  has "/dev/stdin:1:"
  echo '#define MINE 7' >mine.h
  run vm -Cqs d
  said 0 7
  mkdir sub && mv mine.h sub
  run vm -x incdir=sub -Cqs d
  said 0 7
}

@test "a process that is not there is told in dtrace's words under its name" {
  run as_dtrace -p 484837947 -n 'BEGIN { exit(0); }'
  said 1 "dtrace: No such process"
}

@test "-e compiles and runs nothing" {
  run vm -en 'BEGIN { trace("x"); exit(3); }'
  said 0 ""
  run vm -en 'BEGIN { trace(5; }'
  [ "$status" -eq 1 ]
}

@test "-Z lets a description match nothing" {
  run vm -qn 'nosuch:::probe' -n 'BEGIN { exit(4); }'
  [ "$status" -eq 1 ]
  has "probe description nosuch:::probe does not match any probes"
  run vm -qZn 'nosuch:::probe' -n 'BEGIN { exit(4); }'
  [ "$status" -eq 4 ]
}

@test "-P, -m and -f complete a description" {
  run vm -q -P 'dtrace { trace(probename); exit(0); }'
  said 0 "BEGINEND"
  run vm -q -P 'dtrace /probename == "BEGIN"/ { trace("x"); exit(0); }'
  said 0 "x"
  run vm -l -P dtrace
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 4 ]
  run vm -m nosuch
  has "probe description :nosuch:: does not match any probes"
  run vm -f nosuch
  has "probe description ::nosuch: does not match any probes"
  run vm -f a:b
  has "probe description :a:b: does not match any probes"
}

@test "-l lists ids, providers and names" {
  run vm -l -n BEGIN -n END
  said 0 "   ID   PROVIDER            MODULE                          FUNCTION NAME
    1     dtrace                                                     BEGIN
    2     dtrace                                                     END"
}

@test "-v reports stability before the run" {
  run vm -qvn 'BEGIN { exit(0); }'
  [ "$status" -eq 0 ]
  has "Stability attributes for description BEGIN :"
  has "Minimum Statement Attributes"
}

@test "JSON is one object per line" {
  run vm --json -n 'BEGIN { printf("a\"%d\n", 5); @n["k", 7] = count(); exit(0); }'
  [ "$status" -eq 0 ]
  has '{"type":"aggregation","name":"n","function":"count","keys":["k",7],"names":["\"k\"","7"],"value":1}'
  has '"a\"5\n"'
  for line in "${lines[@]}"; do [[ "$line" == "{"*"}" ]] || { echo "$line"; return 1; }; done
}

@test "-o appends, and its suffix chooses the format" {
  vm -qo out.txt -n 'BEGIN { trace("x"); exit(0); }'
  vm -qo out.txt -n 'BEGIN { trace("y"); exit(0); }'
  [ "$(tr -d '\n' <out.txt)" = xy ]
  run vm -o out.json -n 'BEGIN { @ = count(); exit(0); }'
  said 0 ""
  grep -qx '{"type":"aggregation","name":"","function":"count","keys":\[\],"value":1}' out.json
  run vm -qo nosuch/out -n 'BEGIN { exit(0); }'
  said 1 "tally: failed to open nosuch/out: No such file or directory"
}

@test "messages go to stderr, answers to stdout" {
  run bash -c "'$TALLY' trace --on=vm -n 'BEGIN { trace(1); exit(0); }' 2>/dev/null"
  [[ "$output" != *matched* && "$output" == *BEGIN* ]]
  run bash -c "'$TALLY' trace --on=vm -n 'BEGIN { trace(1); exit(0); }' 2>&1 >/dev/null"
  said 0 "tally: description 'BEGIN ' matched 1 probe"
}

@test "a full disk is an error, a reader that goes away ends the run" {
  [ -e /dev/full ] || skip "no /dev/full"
  run bash -c "'$TALLY' trace --on=vm -qn 'BEGIN { trace(1); exit(0); }' >/dev/full"
  said 1 "tally: failed to write to stdout: No space left on device"
  run vm -qo /dev/full -n 'BEGIN { trace(1); exit(0); }'
  said 1 "tally: failed to write to /dev/full: No space left on device"
  run bash -c "set -o pipefail; '$TALLY' trace --on=vm -qn 'tick-1s { printf(\"x\n\"); }' | head -n 3"
  said 141 "x
x
x"
}

@test "--dump shows each pass and runs nothing" {
  for pass in parse bind type lower check bpf; do
    run vm --dump=$pass -n 'BEGIN { trace(1); exit(9); }'
    [ "$status" -eq 0 ] || { echo "$pass: $status"; return 1; }
    [ -n "$output" ] || { echo "$pass: nothing"; return 1; }
  done
  has "exit"
}

@test "the vm refuses probes of events" {
  run vm -n 'cpc:::cpu_clock-all-1000000 { @ = count(); }'
  [ "$status" -eq 3 ]
}

@test "stackframes above what the kernel walks is that many, as stack() with such a number is" {
  run vm -qx stackframes=128 -x ustackframes=1000 -n 'BEGIN { stack(128); ustack(1000); exit(0); }'
  [ "$status" -eq 0 ]
  [[ "$output" != *failed* ]]
}

@test "a program that depends on a module that the kernel has not is refused, not accepted" {
  run vm -qn '#pragma D depends_on module nosuch
BEGIN { exit(0); }'
  [ "$status" -eq 1 ]
  has "program requires module nosuch"
  has 'this kernel has no module "nosuch", neither loaded (lsmod) nor built in'
  for module in vmlinux printk; do
    run vm -qn "#pragma D depends_on module $module
BEGIN { exit(0); }"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  done
}

@test "a program that depends on a provider or library that is not there is refused" {
  run vm -qn '#pragma D depends_on provider nosuch
BEGIN { exit(0); }'
  [ "$status" -eq 1 ]
  has "program requires provider nosuch"
  has 'no provider "nosuch"'
  run vm -qn '#pragma D depends_on provider ptt
BEGIN { exit(0); }'
  [ "$status" -eq 1 ]
  has "program requires provider ptt"
  run vm -qn '#pragma D depends_on library nosuch.d
BEGIN { exit(0); }'
  [ "$status" -eq 1 ]
  has "program requires library nosuch.d"
  run vm -qn '#pragma D depends_on provider cpc
BEGIN { exit(0); }'
  [ "$status" -eq 0 ]
}

@test "UTF-16 or a second byte order mark is no syntax error near \"?\": the encoding is named, and what mends it" {
  printf '\xef\xbb\xbf\xef\xbb\xbfBEGIN { exit(0); }' >twice
  printf '\xff\xfeB\0E\0G\0' >little
  printf '\xfe\xff\0B\0E\0G' >big
  printf 'B\0E\0G\0' >unmarked
  for file in twice little big unmarked; do
    words="this is UTF-16; save it as UTF-8"
    [ $file != twice ] || words="a second byte order mark stands behind the first: save the file with one, or without"
    run vm -qs $file
    said 1 "tally: failed to compile script $file: line 1: $words"
    run "$TALLY" list --on "power,config=$file" gpci
    has "$words"
    run timeout 5 "$TALLY" machine batoka --guests $file --listen /no/such/socket
    has "$words"
  done
}

@test "a byte order mark in front of a script, of guests or of a machine's file is skipped" {
  printf '\xef\xbb\xbfBEGIN { trace("read"); exit(0); }\n' >mark.d
  run vm -qs mark.d
  said 0 "read"
  printf '\xef\xbb\xbf#!/usr/sbin/dtrace -qs\nBEGIN { trace("read"); exit(0); }\n' >mark.d
  run vm -qs mark.d
  said 0 "read"
  run vm -qn 'BEGIN { trace("a'$'\xef\xbb\xbf''b"); exit(0); }'
  said 0 "a"$'\xef\xbb\xbf'"b"
  # of files that are wrong the same is said with the mark as without
  for text in "no such word 1" "# nothing"; do
    echo "$text" >plain
    printf '\xef\xbb\xbf%s\n' "$text" >mark
    for file in plain mark; do
      run "$TALLY" list --on "power,config=$file" gpci
      printf '%s\n' "$status" "$output" >config.$file
      run timeout 5 "$TALLY" machine batoka --guests $file --listen /no/such/socket
      [[ $status == [12] ]] # 2: the file is wrong, 1: there is no such place
      printf '%s\n' "$status" "$output" >guests.$file
    done
    cmp config.plain config.mark
    cmp guests.plain guests.mark
  done
  [ "$(head -n 1 config.plain)" -eq 0 ] && [ -s guests.plain ] # of the last, which is not wrong
}

@test "the weight of a distribution's value is what its row grows by" {
  run vm -qn 'BEGIN { @q = quantize(3, 5); @l = lquantize(3, 0, 10, 1, 4); @m = llquantize(3, 10, 0, 2, 10, 6); }'
  [ "$status" -eq 0 ]
  [ "$(grep -oE '\|@+ +[0-9]+' <<<"$output" | sed 's/.* //' | tr '\n' ' ')" = "5 4 6 " ] || { echo "$output"; return 1; }
}

@test "if and else choose statements, and an arm that was not taken prints nothing, also when it comes first in the record" {
  run vm -qn 'int x; BEGIN { if (x == 0) { printf("zero "); } else if (x) printf("%d ", x); else { printf("never"); } if (x) ; else trace("end"); exit(x == 0 ? 5 : 6); }'
  said 5 "zero end"
  needs_bpf
  run "$TALLY" trace -qn 'int x; BEGIN { if (x == 0) { printf("zero "); } else if (x) printf("%d ", x); exit(5); }'
  said 5 "zero "
}

@test "no clause of a probe runs behind the one that called exit()" {
  run vm -qn 'BEGIN { printf("first "); exit(0); } BEGIN { printf("second"); } END { printf("end"); }'
  said 0 "first end"
}

@test "under the name dtrace a fault tells the instruction, under tally the line" {
  run as_dtrace --on=vm -qn 'BEGIN { x = 0; trace(1 / x); exit(0); } ERROR { exit(1); }'
  [ "$status" -eq 1 ]
  [[ "$output" =~ "divide-by-zero at BPF pc "[1-9][0-9]* ]]
  run vm -qn 'BEGIN { x = 0; trace(1 / x); exit(0); } ERROR { exit(1); }'
  has "divide-by-zero in action at line 1"
}

@test "a test suite of dtrace(1) says so in the environment, and then CPU and id, which differ from run to run, are left out" {
  _DTRACE_TESTING=t run as_dtrace --on=vm -n 'BEGIN { trace("x"); exit(0); }'
  has "
                   FUNCTION:NAME
                          :BEGIN   x"
  _DTRACE_TESTING=t run as_dtrace --on=vm -x flowindent -n 'BEGIN { trace("x"); exit(0); }'
  grep -qE '^ \| :BEGIN +x' <<<"$output"
}

@test "a conditional expression may choose between actions" {
  run vm -q -x defaultargs -n 'BEGIN { $1 ? printf("given ") : printf("none "); x = 2; x > 1 ? trace("more") : 1; x > 2 ? trace("most") : 1; exit(0); }'
  said 0 "none more"
}

@test "trace() of an array of integers shows its bytes, not its address" {
  run vm -qn 'int a[3]; BEGIN { a[1] = 0x4243; trace(a); exit(0); }'
  has ' 00 00 00 00 43 42 00 00 00 00 00 00 '
}

@test "basename and dirname of a path that is longer than the 16 bytes of a callback" {
  for n in 10 20 33 70 230; do
    long=$(printf "%${n}s" | tr ' ' d)
    run "$TALLY" trace --on vm -qn "BEGIN { s = \"/$long/tail/\"; printf(\"%s %s\", basename(s), dirname(s)); exit(0); }"
    [ "$status" -eq 0 ]
    [ "$output" = "tail /$long" ]
  done
}

@test "with -C the C library's and the kernel's headers were refused for words that say nothing about a type" {
  command -v cpp >/dev/null || skip "no cpp"
  for h in errno.h time.h signal.h fcntl.h poll.h sys/types.h sys/stat.h sys/time.h linux/types.h; do
    printf '#include <%s>\nBEGIN { exit(0); }\n' "$h" >h.d
    run "$TALLY" trace --on vm -qCs h.d
    [ "$status" -eq 0 ] || { echo "$h: $output"; return 1; }
  done
}

@test "macro variables are the ids of tally itself" {
  cat >"$BATS_TEST_TMPDIR/ids.c" <<'C'
#include <stdio.h>
#include <unistd.h>
int main(void) { printf("%d %d %d %d %d %d\n", getpgid(0), getsid(0), getuid(), geteuid(), getgid(), getegid()); return 0; }
C
  gcc -o "$BATS_TEST_TMPDIR/ids" "$BATS_TEST_TMPDIR/ids.c" 2>/dev/null || skip "no C compiler"
  run vm -qn 'BEGIN { printf("%d %d %d %d %d %d\n", $pgid, $sid, $uid, $euid, $gid, $egid); exit(0); }'
  [ "$status" -eq 0 ]
  [ "$(head -n 1 <<<"$output")" = "$("$BATS_TEST_TMPDIR/ids")" ]
  run vm -qn 'BEGIN { printf("%d %d", $pid == pid, $ppid == ppid); exit(0); }'
  [ "$status" -eq 0 ]
}

@test "under the name dtrace a command that does not exist is refused as soon as under its own" {
  shortest() { # exit status, command: ms, of three runs
    local began ms turn
    for turn in 1 2 3; do
      began=$(date +%s%N)
      run "-$1" "${@:2}" -n BEGIN -c /no/such
      ms=$((($(date +%s%N) - began) / 1000000))
      has "failed to start '/no/such': cannot run the command: No such file or directory"
      if [ "$turn" -eq 1 ] || [ "$ms" -lt "$least" ]; then least=$ms; fi
    done
  }
  needs_bpf
  shortest 127 "$TALLY" trace
  own=$least
  shortest 1 as_dtrace
  [ "$least" -lt $((20 * (own + 1))) ]
}
