#!/usr/bin/env bats
# The provider usdt: static probes of programs, and the headers that programs have them from.

load common

trace() { "$TALLY" trace -x quiet "$@"; }
needs_uprobes() {
  needs_bpf
  [ -e /sys/bus/event_source/devices/uprobe/type ] || skip "this kernel has no uprobes"
}

# A program with probes, in $APP: it counts its own requests. $1: options of the C compiler.
setup() {
  command -v cc >/dev/null || skip "no C compiler"
  cd "$BATS_TEST_TMPDIR"
  APP=$BATS_TEST_TMPDIR/app
  cat >app.d <<'D'
#pragma D attributes Evolving/Evolving/Common provider myapp provider
/* what the program tells */
provider myapp {
	probe request__start(int id, string path); /* it comes */
	probe request__done(int, int8_t status, unsigned short, long long bytes, char) : (int);
	probe ten(long a, long b, long c, long d, long e, long f, long g, long h, long i, uint64_t j);
	probe idle(void);
};
D
  cat >app.c <<'C'
#include "app.h"
#include <stdio.h>
#include <stdlib.h>
static __attribute__((noinline)) void serve(int id)
{
	char path[16];
	snprintf(path, sizeof(path), "/page/%d", id % 3);
	MYAPP_REQUEST_START(id, path);
	MYAPP_REQUEST_DONE(id, id % 2 ? -1 : 0, 65535, -5000000000L * id, 'x');
}
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 5;
	char line[8];
	if (argc > 2 && !fgets(line, sizeof(line), stdin))
		return 1;
	for (int i = 1; i <= n; i++)
		serve(i);
	MYAPP_TEN(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
	if (MYAPP_IDLE_ENABLED()) {
		MYAPP_IDLE();
		printf("somebody looks\n");
	}
	MYAPP_IDLE();
	printf("%d requests\n", n);
	return 0;
}
C
  "$TALLY" trace -h -s app.d
}
build() { cc "$@" -Wall -Wextra -Werror -o app app.c; }

@test "each firing of a static probe is counted, at every level of optimisation" {
  needs_uprobes
  for level in -O0 -O1 -O2 -Os "-O2 -fPIE -pie" "-O2 -no-pie"; do
    build $level
    run trace -c "$APP 1000" -n 'myapp$target:::request-start { @[probefunc, probename] = count(); @s = sum(arg0); }' \
      -n 'END { printa("%s %s %@d\n", @); printa("%@d\n", @s); }'
    said 0 "1000 requests
serve request-start 1000
500500" || { echo "$level"; return 1; }
  done
}

@test "arguments have the size and the sign that the program gave them, and strings are read" {
  needs_uprobes
  build -O2
  run trace -c "$APP 2" -n 'myapp$target::serve:request-start { printf("%d %s\n", arg0, copyinstr(arg1)); }' \
    -n 'myapp$target:::request-done { printf("%d %d %d %d %c\n", args[0], args[1], args[2], args[3], args[4]); }' \
    -n 'myapp$target:::ten { printf("%d %d %d %d %d %d %d %d %d %d\n", arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7, arg8, arg9); }'
  said 0 "2 requests
1 /page/1
1 -1 65535 -5000000000 x
2 /page/2
2 0 65535 -10000000000 x
1 2 3 4 5 6 7 8 9 10"
}

# A program whose requests are structs, and what its provider definition makes of them, in typed.d without clauses.
build_typed() {
  cat >typed.d <<'D'
struct req { int n; const char *path; struct req *next; };
typedef struct reqinfo { int ri_n; string ri_path, ri_inner; } reqinfo_t;
translator reqinfo_t <struct req *R> { ri_n = R->n; ri_path = stringof(R->path); ri_inner = stringof(R->next->path); };
D
  cat >app.d <<'D'
provider myapp {
	probe req__in(int id, struct req *r, char *s, string t, uint8_t small) :
		(string t, reqinfo_t *r, int id, char *s, int8_t small, string s, struct req *r);
	probe plain(unsigned short a, char *b);
	probe plain2(unsigned short a, char *b);
};
D
  cat app.d >>typed.d
  "$TALLY" trace -h -s app.d
  cat >app.c <<'C'
#include "app.h"
#include <string.h>
struct req { int n; const char *path; struct req *next; };
static char ess[8], tee[8], outer[8], inner[8];
int main(void)
{
	struct req b = { 8, inner, 0 }, a = { 7, outer, &b };
	strcpy(ess, "ess"), strcpy(tee, "tee"), strcpy(outer, "outer"), strcpy(inner, "inner");
	MYAPP_REQ_IN(42, &a, ess, tee, 255);
	MYAPP_PLAIN(65535, ess);
	MYAPP_PLAIN2(65534, tee);
	return 0;
}
C
  build -O2
}

@test "a provider definition gives args[] its types: names, order, strings, structs of the program, translators; argN stays" {
  needs_uprobes
  build_typed
  { cat typed.d; cat <<'D'; } >t.d
myapp$target:::req-in { printf("%s %d %s %s %d %s %d %s %s\n", args[0], args[1]->ri_n, args[1]->ri_path, args[1]->ri_inner,
	args[2], stringof(args[3]), args[4], args[5], stringof(args[6]->next->path)); }
myapp$target:::req-in { printf("%d %d %s\n", arg0, arg4, copyinstr(arg3)); }
myapp$target:::plain* { printf("%d %s\n", args[0], stringof(args[1])); }
D
  run trace -c ./app -s t.d
  said 0 "tee 7 outer inner 42 ess -1 ess inner
42 255 tee
65535 ess
65534 tee"
}

@test "a library's provider definition gives args[] its types, too, and without one they are numbers of their size" {
  needs_uprobes
  build_typed
  mkdir libs && cp typed.d libs/myapp.d
  run trace -L libs -c ./app -n 'myapp$target:::req-in { printf("%s %s\n", args[0], args[1]->ri_inner); }'
  said 0 "tee inner"
  run trace -c ./app -n 'myapp$target:::req-in { printf("%d %d\n", args[0], args[4]); }'
  said 0 "42 255"
}

@test "args[] that a provider definition has not, or that differ between the probes of a description, are refused" {
  needs_uprobes
  build_typed
  refused() { # clause, words
    { cat typed.d; echo "$1"; } >t.d
    run trace -c ./app -s t.d
    [ "$status" -eq 1 ] && [[ "$output" == *"$2"* ]] || { echo "$1: $output"; return 1; }
  }
  refused 'myapp$target:::req-in { trace(args[7]); }' 'line 10: index 7 is out of range for myapp:::req-in args[ ]: its definition has 7'
  refused 'myapp$target::: { trace(args[0]); }' 'args[0] is not the same thing in all probes of'
  refused 'myapp$target:::req-in { trace(args[1]->ri_x); }' 'ri_x is not a member of'
  run trace -c ./app -n 'myapp$target:::req-in, myapp$target:::plain { trace(args[0]); }' -s typed.d
  said 0 "tee65535"
}

@test "an is-enabled macro is true while somebody traces that probe, and only then" {
  needs_uprobes
  build -O2
  [ "$("$APP" 1)" = "1 requests" ]
  run trace -c "$APP 1" -n 'myapp$target:::request-start { @ = count(); } END { clear(@); }'
  [[ "$output" != *"somebody looks"* ]]
  run trace -c "$APP 1" -n 'myapp$target:::idle { @ = count(); } END { printa("%@d\n", @); }'
  said 0 "somebody looks
1 requests
2"
}

@test "a process that runs already is found, with patterns, and its semaphore falls back when tally is killed" {
  needs_uprobes
  build -O2
  mkfifo go
  "$APP" 3 wait <go >out 3>&- &
  app=$!
  exec 7>go
  until_runs "$app" "$(realpath "$APP")"
  run "$TALLY" trace -l -p $app -n 'my*$target:::'
  [ "$status" -eq 0 ]
  [ "$(awk 'NR > 1 { sub(/[0-9]+$/, "PID", $2); print $2, $3, $4, $5 }' <<<"$output" | sort)" = "myappPID app main idle
myappPID app main ten
myappPID app serve request-done
myappPID app serve request-start" ]
  "$TALLY" trace -x quiet -n "myapp$app:::idle { @ = count(); } tick-1ms { printf(\"on\n\"); }" >on 3>&- 7>&- &
  tracer=$!
  until grep -q on on; do kill -0 $tracer || break; done
  kill -9 $tracer
  wait $tracer || [ $? -eq 137 ]
  echo >&7
  exec 7>&-
  wait $app
  [ "$(cat out)" = "3 requests" ]
}

@test "a provider or a probe that is not there is refused with the nearest one" {
  needs_uprobes
  build -O2
  refused() { # description, words
    run trace -c "$APP 1" -n "$1 { @ = count(); }"
    [ "$status" -eq 1 ] && [[ "$output" == *"does not match any probes"*"$2"* ]] || { echo "$1: $output"; return 1; }
  }
  refused 'myap$target:::idle' 'has no static probes of a provider "myap"; did you mean myapp?'
  refused 'myapp$target:::idel' 'has no such probe; did you mean idle?'
  refused 'usdt:::idle' 'usdt: the provider'"'"'s name is the program'"'"'s, with the process id behind it'
}

@test "several files of a program and a shared library have the header, in C and in C++" {
  needs_uprobes
  command -v c++ >/dev/null || skip "no C++ compiler"
  sed 's/int main.*/void lib(int id);void lib(int id) { serve(id); }\n#if 0/' app.c >lib.c && echo '#endif' >>lib.c
  printf '#include "app.h"\nextern "C" void lib(int);\nint main() { lib(7); MYAPP_IDLE(); if (MYAPP_IDLE_ENABLED()) lib(8); return 0; }\n' >main.cc
  cc -O2 -fPIC -shared -o liblib.so lib.c
  c++ -O2 -o app main.cc -L. -llib -Wl,-rpath,"$PWD"
  run trace -c "$APP" -n 'myapp$target:::idle, myapp$target:liblib:serve:request-start { printf("%s %s %d\n", probemod, probename, arg0); }'
  said 0 "liblib.so request-start 7
app idle 0
liblib.so request-start 8"
}

# A program, and a library that it loads three times, with static probes: build_late 'TYPES OF THE LIBRARY'
build_late() {
  printf 'provider myapp {\n\tprobe req(%s);\n\tprobe seen(int id, char *s);\n};\n' "$1" >late.d
  printf 'provider myapp {\n\tprobe req(int id, char *s);\n};\n' >own.d
  "$TALLY" trace -h -s late.d && "$TALLY" trace -h -s own.d
  cat >late.c <<'C'
#include "late.h"
#include <string.h>
static char s[8];
void late_touch(int n);
void late_touch(int n) { strcpy(s, "late"); MYAPP_REQ(n, s); if (MYAPP_SEEN_ENABLED()) MYAPP_SEEN(n, s); }
C
  cat >loads.c <<'C'
#include "own.h"
#include <dlfcn.h>
int main(int argc, char **argv)
{
	static char own[8] = "own";
	own[0] = 'O';
	MYAPP_REQ(argc, own);
	for (int r = 0; r < 3; r++) {
		void *h = dlopen(argv[1], RTLD_NOW);
		void (*touch)(int) = (void (*)(int))dlsym(h, "late_touch");
		for (int i = 0; i < 100; i++)
			touch(i);
		dlclose(h);
	}
	return 0;
}
C
  cc -O2 -shared -fPIC -o late.so late.c && cc -O2 -o loads loads.c -ldl
}

@test "static probes of a library that the process loads later fire from the first on, with their arguments" {
  needs_uprobes
  build_late 'int id, char *s'
  run trace -c "./loads ./late.so" -n 'myapp$target:::req { @[probemod, copyinstr(args[1])] = count(); @s[probefunc] = sum(args[0]); }' \
    -n 'myapp$target:::s*n { @[probename, copyinstr(arg1)] = count(); }' -n 'END { setopt("aggsortkey"); printa("%s %s %@d\n", @); printa("%s %@d\n", @s); }'
  [ "$status" -eq 1 ] # nothing is called s*n so far
  run trace -Z -c "./loads ./late.so" -n 'myapp$target:::req { @[probemod, copyinstr(args[1])] = count(); @s[probefunc] = sum(args[0]); }' \
    -n 'myapp$target:::s*n { @[probename, copyinstr(arg1)] = count(); }' -n 'END { setopt("aggsortkey"); printa("%s %s %@d\n", @); printa("%s %@d\n", @s); }'
  said 0 "late.so late 300
loads Own 1
seen late 300
late_touch 14850
main 2"
  { cat late.d; echo 'myapp$target:late.so::req { @[stringof(args[1])] = sum(args[0]); } END { printa("%s %@d\n", @); }'; } >t.d
  run trace -Z -c "./loads ./late.so" -s t.d
  said 0 "late 14850"
}

@test "a probe of a later library whose arguments differ from those that a clause has compiled is left out of it, aloud" {
  needs_uprobes
  build_late 'int64_t id, char *s'
  run trace -c "./loads ./late.so" -n 'myapp$target:::req { @[probemod] = sum(args[0]); }' -n 'myapp$target:::req { @n = count(); }' \
    -n 'END { printa("%s %@d\n", @); printa("%@d\n", @n); }'
  said 0 "loads 2
301
tally: libraries that were loaded later have other args[] than clauses were compiled for; places left out: 1"
}

@test "a pattern without a process id names the probes of all processes that run" {
  needs_uprobes
  build -O2
  mkfifo one two
  "$APP" 3 wait <one >out1 3>&- & app1=$!
  exec 7>one
  cp "$APP" copy
  ./copy 4 wait <two >out2 3>&- 7>&- & app2=$!
  exec 8>two
  until_runs "$app1" "$(realpath "$APP")"
  until_runs "$app2" "$(realpath copy)"
  run "$TALLY" trace -l -n 'myap*:::idle'
  [ "$(awk 'NR > 1 { print $2, $3, $4, $5 }' <<<"$output" | sort)" = "$(printf 'myapp%s %s main idle\n' $app1 app $app2 copy | sort)" ]
  "$TALLY" trace -x quiet -x aggsortkey -o counts -w -n 'BEGIN { n = 0; system("echo >&7; echo >&8"); } myapp*:::request-start { @[probeprov, pid] = count(); n++; }' \
    -n 'myapp*:::ten { ended++; } myapp*:::ten /ended == 2/ { exit(0); } END { printa("%s %d %@d\n", @); }' 7>&7 8>&8
  exec 7>&- 8>&-
  wait $app1 $app2
  [ "$(sort counts | grep .)" = "$(printf 'myapp%s %s %s\n' $app1 $app1 3 $app2 $app2 4 | sort)" ]
  run trace -n 'nosuchapp*:::idle { @ = count(); }'
  [ "$status" -eq 1 ] && has 'usdt: no process has static probes of a provider "nosuchapp*" now, and no provider is called so'
}

# The kernel tells root alone which programs begin.
needs_programs_told() {
  needs_uprobes
  [ "$(id -u)" -eq 0 ] || skip "who may not be told which programs begin"
  run trace -Z -c true -n 'nosuchapp*:::idle { @ = count(); }'
  [[ $output != *"only programs that a process runs already are probed"* ]] || skip "$output"
}

@test "a pattern without a process id fires in processes that begin later, from their first firing on, each under its own id" {
  needs_programs_told
  build -O2
  printf '%s\n' "$APP 10" "$APP 20" "cp $APP copy" './copy 5' "cp /bin/true copy" "./copy 6" "cp $APP other; mv other copy" "./copy 7" >go.sh
  run trace -Z -x aggsortkey -c 'sh go.sh' -n 'int wrong; myapp*:::request-start { @[probemod, arg0 <= 5] = count(); @b = sum(arg0); @s[copyinstr(arg1)] = count(); }' \
    -n 'myapp*:::request-start /probeprov != strjoin("myapp", lltostr(pid))/ { wrong++; }' -n 'myapp*:::idle { @i = count(); }' \
    -n 'END { printa("%s %d %@d\n", @); printa("%@d\n", @b); printa("%@d\n", @i); printf("%d\n", wrong); printa("%s %@d\n", @s); }'
  said 0 "somebody looks
10 requests
somebody looks
20 requests
somebody looks
5 requests
somebody looks
7 requests
app 0 20
app 1 10
copy 0 2
copy 1 10
$((55 + 210 + 15 + 28))
8
0
/page/0 12
/page/1 16
/page/2 14"
}

@test "each of many short processes fires, and the command of -c is one of them" {
  needs_programs_told
  build -O2
  printf 'i=0; while [ $i -lt 200 ]; do %s 3 >/dev/null; i=$((i + 1)); done\n' "$APP" >many.sh
  run trace -Z -c 'sh many.sh' -n 'myapp*:::request-start { n++; } END { printf("%d\n", n); }'
  said 0 600
  run trace -c "$APP 7" -n 'myapp*:::request-start { n++; } END { printf("%d\n", n); }'
  said 0 "7 requests
7"
}

@test "programs on an overlay, on a mount whose name has blanks, and in a pid namespace of their own are told" {
  needs_programs_told
  build -O2
  mkdir low up work merged up2 work2 merged2 'a mount'
  cat >mounts.sh <<'S'
set -e
cp "$1" low/lower
mount -t overlay overlay -o "lowerdir=$PWD/low,upperdir=$PWD/up,workdir=$PWD/work" merged
mount -t overlay overlay -o "lowerdir=$PWD/low,upperdir=$PWD/up2,workdir=$PWD/work2" merged2
mount -t tmpfs tmpfs 'a mount'
cp "$1" merged/upper && cp "$1" 'a mount/blank'
S
  unshare -m sh mounts.sh "$APP" 2>/dev/null || skip "no overlay can be mounted here"
  printf '%s\n' "merged/lower 3" "merged2/lower 7" "merged/upper 4" "'a mount/blank' 5" "unshare -pf $APP 6" >go.sh
  run unshare -m sh -c 'sh mounts.sh "$1" && exec "$0" trace -q -Z -x aggsortkey -c "sh go.sh" -n "$2" -n "$3"' "$TALLY" "$APP" \
    'int wrong; myapp*:::request-start { @[probemod] = count(); wrong += probeprov != strjoin("myapp", lltostr(pid)); }' 'END { printa("%s %@d\n", @); printf("%d\n", wrong); }'
  said 0 "3 requests
7 requests
4 requests
5 requests
6 requests
app 6
blank 5
lower 10
upper 4
0"
}

@test "a file system that is mounted later is watched, too" {
  needs_programs_told
  build -O2
  mkdir later
  unshare -m mount -t tmpfs tmpfs later 2>/dev/null || skip "nothing can be mounted here"
  # The kernel tells of a mount, and waits for nobody: the program is begun until it fires.
  printf '%s\n' 'mount -t tmpfs tmpfs later' "cp $APP later/late" 'for i in $(seq 5000); do later/late 2 >/dev/null; done' >go.sh
  run timeout 100 unshare -m "$TALLY" trace -q -Z -c 'sh go.sh' -n 'myapp*:::request-start /probemod == "late"/ { printf("fired\n"); exit(0); }'
  said 0 "fired"
}

@test "who waits for programs holds none of them up when it is stopped or killed" {
  needs_programs_told
  build -O2
  "$TALLY" trace -x quiet -Z -n 'myapp*:::idle { @ = count(); } tick-1ms { printf("on\n"); }' >on 3>&- &
  tracer=$!
  until grep -q on on; do kill -0 $tracer || break; done
  kill -STOP $tracer
  run "$APP" 3
  said 0 "3 requests" # it began without its probes
  kill -9 $tracer
  wait $tracer || [ $? -eq 137 ]
  run "$APP" 4
  said 0 "4 requests"
}

@test "-G makes an object file that links, without an executable stack" {
  build -O2
  cc -O2 -c app.c
  run "$TALLY" trace -G -s app.d app.o
  said 0 ""
  "$TALLY" trace -G -s app.d -o probes.o app.o
  cc -O2 -c app.c && cc -Wl,--fatal-warnings -o linked app.o probes.o
  [ "$(./linked 1)" = "1 requests" ]
}

@test "comments, wherever they stand, are none of a provider definition's words, and their lines count" {
  printf '/* provider b {\n * };\n ***/\nprovider a { /* probe x(); */ probe y(int /* a */); // probe z();\n/**/ };\n/* the end' >a.d
  run "$TALLY" trace -h -s a.d
  said 1 "tally: failed to compile script a.d: line 6: end-of-file encountered before matching */; the comment begins in line 6"
  echo ' */' >>a.d
  "$TALLY" trace -h -s a.d
  grep -q 'A_Y(' a.h
  ! grep -q 'A_[XZ](' a.h || return 1
  printf '/* one\n * two */\nprovider a { // three\n/**/ prob x(); };' >a.d
  run "$TALLY" trace -h -s a.d
  said 1 "tally: failed to compile script a.d: line 4: expected probe, or }, found \"prob\""
}

@test "a provider definition that is wrong is refused with its line" {
  said_of() { # source, words
    printf "$1" >bad.d
    run "$TALLY" trace -h -s bad.d -o bad.h
    said 1 "tally: failed to compile script bad.d: $2"
  }
  said_of 'BEGIN { exit(0); }\n' 'it defines no provider: provider NAME { probe NAME(); };'
  said_of 'provider a {\n probe x(;\n};' 'line 2: expected ), found ";"'
  said_of 'provider a {\n\n prob x();\n};' 'line 3: expected probe, or }, found "prob"'
  said_of 'provider a { probe x()' 'line 1: expected ;, found end of file'
  said_of 'provider a { probe x(int, int, int, int, int, int, int, int, int, int, int); };' \
    'line 1: probe x has more than 10 arguments: arg0 to arg9 are all there are'
}

@test "names, twins and lists of a provider definition are refused by -h as in a script, with the same tag" {
  long=$(printf 'p%.0s' {1..64})
  refused() { # tag, line, words, source
    printf "$4" >bad.d
    for how in "-h -o bad.h" "--on vm"; do
      run "$TALLY" trace -xerrtags -s bad.d $how
      [ "$status" -eq 1 ] && has "failed to compile script bad.d: [$1] line $2: $3"
      [ ! -e bad.h ]
    done
  }
  refused D_PROV_BADNAME 1 "a provider's name may not end with a digit, since the process id stands behind it: app2" \
    'provider app2 { probe go(); };\n'
  refused D_PROV_BADNAME 2 'a probe'"'"'s name may not have a scope: x`go' 'provider app {\n probe x`go(); };\n'
  refused D_PROV_BADNAME 1 "a provider's name may not exceed 63 characters, and has 64: $long" "provider $long { probe go(); };\n"
  refused D_PROV_BADNAME 3 "a probe's name may not exceed 63 characters, and has 64: ppp" \
    "provider app {\n probe ${long:3}__p();\n probe ${long:3}__pp(); };\n"
  refused D_PROV_PRDUP 3 'probe app:::go is defined twice' 'provider app {\n probe go();\n probe go(); };\n'
  refused D_PROV_INCOMPAT 2 'provider app is defined again, and had no probe stop' \
    'provider app { probe go(); };\nprovider app { probe stop(); };\n'
  refused D_PROV_INCOMPAT 2 'probe app:::go is defined again with 2 arguments, and had 1' \
    'provider app { probe go(int); };\nprovider app { probe go(int, int); };\n'
  refused D_PROV_INCOMPAT 2 'argument 1 of probe app:::go is defined again as "short", and was "int"' \
    'provider app { probe go(int); };\nprovider app { probe go(short); };\n'
}

@test "a provider that is defined twice alike is one, and -G links no longer names than DTrace does" {
  printf 'provider app { probe go(int); };\nprovider app { probe go(int a); };\n' >twice.d
  "$TALLY" trace -h -s twice.d
  [ "$(grep -c "app_go_semaphore != 0" twice.h)" -eq 1 ]
  name=$(printf 'p%.0s' {1..53})
  echo "provider $name { probe go(); };" >fits.d
  "$TALLY" trace -G -s fits.d
  echo "provider p$name { probe go(); };" >prov.d
  run "$TALLY" trace -G -s prov.d
  said 1 "tally: failed to link script prov: USDT provider name may not exceed 53 characters: p$name"
  [ ! -e prov.o ]
}

@test "-G and -h refuse a source that is no D with its line, and write nothing" {
  printf 'provider app { probe go(int); };\n\nthis is not D {\n' >prov.d
  for how in -G -h; do
    run "$TALLY" trace $how -s prov.d -o made
    said 1 'tally: failed to compile script prov.d: line 3: syntax error near "not D {"'
    run as_dtrace -xerrtags $how -s prov.d -o made
    said 1 'dtrace: failed to compile script prov.d: [D_SYNTAX] line 3: syntax error near "not D {"'
    [ ! -e made ]
  done
  echo 'this is not D {' >prov.d
  run "$TALLY" trace -G -s prov.d
  [ "$status" -eq 1 ] && [ ! -e prov.o ]
  printf '#define SHOWN { trace(curthread->pid); }\nprovider app { probe go(app_t *); };\n%s\n' \
    'app*:::go /arg0 == $1/ SHOWN nobody:::here { trace(stringof(args[0]->name)); }' >prov.d
  "$TALLY" trace -C -G -s prov.d
  [ -e prov.o ]
}
