#!/usr/bin/env bats
# The library's edge: what the installed headers declare, what the libraries export, what they promised before, and the
# C programs of examples/.

load common

setup_file() {
  export ROOT="$BATS_TEST_DIRNAME/.." DEST="$BATS_FILE_TMPDIR/dest"
  make -s -C "$ROOT" install DESTDIR="$DEST" PREFIX=/usr >"$BATS_FILE_TMPDIR/install.log" 2>&1 || cat "$BATS_FILE_TMPDIR/install.log"
  cd "$BATS_FILE_TMPDIR" || return 1
  of_headers "$DEST/usr/include" declared >declared
  export DECLARED="$BATS_FILE_TMPDIR/declared"
}
setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

# of_headers DIRECTORY COMMAND...: what COMMAND prints, sorted, of all headers in DIRECTORY/tally, and not of those of the system that
# they include.
of_headers() {
  local directory=$1
  shift
  (cd "$directory" && printf '#include <%s>\n' tally/*.h) >all.h
  grep -h '^#include <' "$directory"/tally/*.h | grep -v '<tally/' >system.h
  for of in all system; do CPATH=$directory "$@" $of.h >$of.printed || return 1; done
  LC_ALL=C comm -23 <(LC_ALL=C sort -u all.printed) <(LC_ALL=C sort -u system.printed)
}

# declared HEADER: the functions and variables that are declared there and defined elsewhere. The compiler lists them, so neither an
# attribute nor the shape of a declaration hides one. A line of the list is `func _NAME TYPE` or `var _NAME TYPE`, and behind `// ` if Go
# has no such type.
declared() {
  gcc -std=gnu17 -fdump-go-spec=go -x c -S -o /dev/null "$1" && sed -nE 's/^(\/\/ )?(func|var) _([A-Za-z_0-9]+) .*/\3/p' go
}

macros_with_arguments() { gcc -E -dM -x c "$1" | sed -n 's/^#define \([A-Za-z_0-9]*\)(.*/\1/p'; }

# Flags for a program of a stranger: only from what was installed.
flags() { PKG_CONFIG_PATH="$DEST/usr/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$DEST" pkg-config --cflags --libs "$@" tally; }

compilers() { for c in gcc clang; do ! command -v $c >/dev/null || echo $c; done; }

@test "the headers declare at least the functions that the README and the examples use" {
  [ "$(wc -l <"$DECLARED")" -ge 60 ]
  for name in tally_strerror tally_trace_walk tally_ptt_report tally_stat tally_hv_call tally_doctor tally_machine_run; do
    grep -qx $name "$DECLARED" || { echo "not found: $name"; return 1; }
  done
}

@test "a declaration is found whatever its shape, its attributes or its name" {
  mkdir -p include/tally
  cp "$DEST"/usr/include/tally/*.h include/tally/
  cat >include/tally/planted.h <<'C'
#include <stdio.h>
#include <tally/error.h>
TALLY_API __attribute__((format(printf, 1, 2))) int tally_two_attributes(const char *fmt, ...);
__attribute__((cold)) __attribute__((nothrow)) TALLY_API int tally_three_attributes(void);
_Noreturn TALLY_API void tally_ends(void);
TALLY_API int (*tally_gives_function(int n))(void);
TALLY_API int (tally_in_parentheses)(void);
typedef int planted_type(void);
TALLY_API planted_type tally_by_type;
TALLY_API int tally_Capital(void);
TALLY_API int of_no_prefix(void);
TALLY_API int tally_first(void), tally_second(int (*back)(int));
TALLY_API long double
tally_on_two_lines(FILE *f);
int tally_without_export(void);
extern const int tally_constant;
TALLY_API extern const char *const tally_words[];
TALLY_API extern int (*tally_hook)(void);
static inline int tally_defined_here(void) { return 1; }
C
  of_headers include declared >found
  diff <(LC_ALL=C sort "$DECLARED" - <<'NAMES'
of_no_prefix
tally_Capital
tally_by_type
tally_constant
tally_ends
tally_first
tally_gives_function
tally_hook
tally_in_parentheses
tally_on_two_lines
tally_second
tally_three_attributes
tally_two_attributes
tally_without_export
tally_words
NAMES
  ) found
}

@test "no header has a macro in place of a function: the libraries could not keep its promise" {
  # TALLY_ERRORS has the codes of the errors as rows.
  [ "$(of_headers "$DEST/usr/include" macros_with_arguments)" = TALLY_ERRORS ]
}

@test "each installed header compiles alone as C17 and as C++17, with gcc and clang" {
  for header in "$DEST"/usr/include/tally/*.h; do
    echo "#include <tally/${header##*/}>" >alone.c
    for cc in $(compilers); do
      $cc -std=c17 -pedantic -Wall -Wextra -Werror -I "$DEST/usr/include" -fsyntax-only alone.c
      $cc -std=c++17 -pedantic -Wall -Wextra -Werror -I "$DEST/usr/include" -fsyntax-only -x c++ alone.c
    done
  done
}

@test "every declared function has an address in both libraries, for C and for C++" {
  {
    cat "$BATS_FILE_TMPDIR/all.h"
    echo '#include <stdio.h>'
    echo 'typedef void (*function)(void);'
    echo 'static function const all[] = {'
    sed 's/.*/(function)\&&,/' "$DECLARED"
    echo '};'
    echo 'int main(void) { unsigned n = 0; for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) n += all[i] != 0; printf("%u\n", n); return 0; }'
  } >all.c
  for cc in $(compilers); do
    for language in c c++; do
      command -v g++ >/dev/null || [ $language = c ] || [ "$cc" = clang ] || continue
      for library in "$DEST/usr/lib/libtally.so" "$DEST/usr/lib/libtally.a"; do
        # C++ that uses nothing of its library needs none: any C compiler links it.
        $cc -x $language -Wno-cast-function-type -I "$DEST/usr/include" -c -o all.o all.c
        $cc -o all all.o "$library" $(flags --static | tr ' ' '\n' | grep -vx -e -ltally -e '-[IL].*') "-Wl,-rpath,$DEST/usr/lib"
        [ "$(./all)" -eq "$(wc -l <"$DECLARED")" ]
      done
    done
  done
}

@test "the libraries export what the headers declare: nothing more, nothing less" {
  nm -D --defined-only "$DEST/usr/lib/libtally.so.0" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u >so
  nm -g --defined-only "$DEST/usr/lib/libtally.a" | awk 'NF == 3 { print $3 }' | LC_ALL=C sort -u >a
  diff "$DECLARED" so
  diff "$DECLARED" a
}

@test "each exported function has a symbol version, which the map names" {
  nm -D --defined-only "$DEST/usr/lib/libtally.so.0" | awk '$2 != "A" { print $3 }' >versioned
  [ -s versioned ]
  ! grep -v '@@LIBTALLY_[0-9.]*$' versioned || return 1
  diff <(sed -n 's/^\t\([A-Za-z_0-9]*\);$/\1/p' "$ROOT/src/libtally.map" | sort) <(sed 's/@.*//' versioned | sort)
}

@test "what the library promises is what was written down: types, functions, versions" {
  case $(uname -m) in x86_64) ;; *) skip "the promise is written down for amd64" ;; esac
  command -v abidiff >/dev/null || skip "no abigail-tools"
  run "$ROOT/tools/abi.sh" "$DEST/usr/lib/libtally.so.0"
  echo "$output"
  [ "$status" -eq 0 ]
}

@test "a function, a member or a constant that is not what was written down is told" {
  case $(uname -m) in x86_64) ;; *) skip "the promise is written down for amd64" ;; esac
  command -v abidiff >/dev/null || skip "no abigail-tools"
  mkdir src include && cp -R "$ROOT/tools" . && cp -R "$ROOT/include/tally" include/
  while read -r edit word; do
    cp "$ROOT"/src/libtally.{abi,constants} src/
    sed -i "$edit" src/libtally.*
    run tools/abi.sh "$DEST/usr/lib/libtally.so.0"
    [[ "$status" -eq 1 && "$output" == *"$word"* && "$output" == *"make abi"* ]] || { echo "$edit: $status $output"; return 1; }
  done <<'ROWS'
/<elf-symbol.name='tally_version'/d tally_version
/<var-decl.name='duckdb'.type-id='[^']*'/s/'duckdb'/'planted'/ planted
/layout-offset-in-bits='64'/s/64/72/ offset
/TALLY_FORMAT_CSV/s/2/3/ TALLY_FORMAT_CSV
ROWS
}

# example NAME: built as a stranger builds it.
example() { gcc -std=c17 -Wall -Wextra -Werror -o "$1" "$DEST/usr/share/doc/tally/examples/c/$1.c" $(flags) "-Wl,-rpath,$DEST/usr/lib"; }

@test "each installed header has an example in C, and each example is run by a test" {
  for header in "$ROOT"/include/tally/*.h; do
    name=$(basename "$header")
    grep -l "#include <tally/$name>" "$ROOT"/examples/c/*.c >/dev/null || { echo "no example of $name"; return 1; }
  done
  for program in "$ROOT"/examples/c/*.c; do
    name=$(basename "$program" .c)
    grep -qE "^ *example $name\$" "$BATS_TEST_DIRNAME/library.bats" || { echo "$name is run by no test"; return 1; }
  done
}

@test "the example of error.h prints each code with its meaning" {
  example error
  run ./error
  [ "$status" -eq 0 ]
  [[ "${lines[0]}" == *" -1  TALLY_ENOMEM"*"out of memory" ]]
  [ "${#lines[@]}" -eq "$(grep -cE '^	X\(' "$ROOT/include/tally/error.h")" ]
}

@test "the example of doctor.h ends with the verdict that its status has" {
  example doctor
  run ./doctor
  [[ "${lines[-1]}" == *"D probes over perf events and BPF: "* ]]
  if [ "$status" -eq 0 ]; then [[ "${lines[-1]}" == *"they run" ]]; else [ "$status" -eq 1 ]; fi
}

@test "the example of tally.h counts page faults by function" {
  needs_bpf
  example count
  run ./count 'ls /'
  [ "$status" -eq 0 ]
  [[ "$output" == *'`'* ]]
}

@test "the example of serve.h says which metrics there are, and serves them" {
  needs_bpf
  ldconfig -p | grep -q libmicrohttpd.so.12 || skip "no libmicrohttpd"
  example serve
  echo 'BEGIN { @n = count(); }' >program.d
  ./serve program.d >out 2>log &
  server=$!
  for _ in $(seq 100000); do ! grep -q 'on port' log || break; done
  kill -INT "$server"
  wait "$server"
  grep -qx 'program: tally_n_total{program} counter' out
  grep -qE '^serving 1 program \(0 failed\) on port [0-9]+$' log
}

@test "the examples of platform.h and ptt.h record a trace of the model and read it" {
  example platform
  example ptt
  run ./platform trace.data
  echo "$output"
  [ "$status" -eq 0 ]
  [[ "$output" == *"hisi_ptt0_2"*"2"* && "${lines[-1]}" =~ ^trace.data:\ [1-9][0-9]*\ records,\ 0\ lost$ ]]
  run ./ptt trace.data
  [ "$status" -eq 0 ]
  [[ "$output" == *record* ]]
  run ./platform trace.data no-such-platform
  [ "$status" -eq 1 ]
  [[ "$output" == "platform: "*no-such-platform* ]]
}

@test "the example of hv.h reads counters of the model through hypercalls" {
  example hv
  run ./hv maramba,load=stream
  [ "$status" -eq 0 ]
  [[ "${lines[-1]}" =~ ^3\ ms:\ [1-9][0-9]*\ reads ]]
}

@test "no hub of a model under load ever answered EWOULDBLOCK" {
  cat >block.c <<'C'
#include <stdio.h>
#include <tally/hv.h>
/* Reads registers of the hubs, 3 us apart, and counts statuses of hv_perf_reg (sun4v: 0 EOK, 9 EWOULDBLOCK). */
static int status_of(struct tally_hv_guest *g, unsigned trap, uint64_t f, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t r[6] = { a, b, c, 0, 0, f };

	return tally_hv_call(g, 0, trap, r) < 0 ? -1 : (int)r[0];
}
static void *no_memory(void *arg, uint64_t at, size_t n)
{
	(void)arg, (void)at, (void)n;
	return NULL;
}
int main(int argc, char **argv)
{
	struct tally_hv_opts o = { .size = sizeof(o), .machine = argv[argc - 1] };
	struct tally_hv_guest_opts go = { .size = sizeof(go), .memory = no_memory };
	struct tally_hv *h;
	struct tally_hv_guest *g;
	unsigned ok = 0, blocked = 0, other = 0;

	if (tally_hv_open(&h, &o) < 0 || tally_hv_guest_open(&g, h, &go) < 0 || status_of(g, 0xff, 0, 0x205, 1, 1))
		return 1;
	for (int i = 0; i < 400; i++) {
		tally_hv_advance(h, 3000);
		for (unsigned reg = 18; reg < 90; reg += 9) {
			int status = status_of(g, 0x80, 0x106, reg, 0xaa, 0);

			*(status == 0 ? &ok : status == 9 ? &blocked : &other) += 1;
		}
	}
	printf("%u read, %u would block, %u else\n", ok, blocked, other);
	tally_hv_guest_close(g);
	tally_hv_close(h);
	return 0;
}
C
  gcc -o block block.c $(flags) -Wl,-rpath,"$DEST/usr/lib"
  run ./block batoka,load=random
  [ "$status" -eq 0 ]
  [[ "$output" =~ ^([0-9]+)\ read,\ ([1-9][0-9]*)\ would\ block,\ 0\ else$ ]]
  [ "${BASH_REMATCH[1]}" -gt "${BASH_REMATCH[2]}" ]          # now and then
}
