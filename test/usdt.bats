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
  printf '/* provider b {\n * };\n ***/\nprovider a { /* probe x(); */ probe y(int /* a */); // probe z();\n/**/ };\n/* without an end' >a.d
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
