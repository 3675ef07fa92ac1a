#!/usr/bin/env bats
# The house itself: what is installed, what the library shows, what the manual promises, what the tools say.

load common

setup_file() {
  export ROOT="$BATS_TEST_DIRNAME/.." DEST="$BATS_FILE_TMPDIR/dest"
  make -s -C "$ROOT" install DESTDIR="$DEST" PREFIX=/usr DTRACE=1 >"$BATS_FILE_TMPDIR/install.log" 2>&1 ||
    cat "$BATS_FILE_TMPDIR/install.log"
}
setup() { cd "$ROOT" || return 1; }

# A stranger's build: headers, libraries and flags only from what was installed.
stranger() { # FLAGS...
  cat >"$BATS_TEST_TMPDIR/stranger.c" <<'C'
#include <stdio.h>
#include <tally/tally.h>
int map_get;                                      /* a name that the library uses inside, too */
int main(void)
{
	struct tally_trace *t = NULL;
	int rc = tally_trace_open(&t, NULL);
	tally_trace_close(t);
	return rc || puts(tally_version()) < 0 || map_get;
}
C
  pc=$(PKG_CONFIG_PATH="$DEST/usr/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$DEST" pkg-config --cflags --libs "$@" tally)
  gcc -Wall -Werror -o "$BATS_TEST_TMPDIR/stranger" "$BATS_TEST_TMPDIR/stranger.c" $pc "-Wl,-rpath,$DEST/usr/lib"
  "$BATS_TEST_TMPDIR/stranger"
}

@test "each tag that is told behind the compiler is named by a test, and each tag in a source is a row of the table" {
  while read -r tag; do
    grep -qw "$tag" test/*.bats || { echo "no test for $tag"; return 1; }
  done < <(sed -n 's/^ERRTAG_BEHIND(\(D_[A-Z_]*\),.*/\1/p' src/dlang/errtag.def)
  while read -r tag; do
    grep -qE "^ERRTAG(_BEHIND)?\($tag," src/dlang/errtag.def || { echo "$tag is in no row"; return 1; }
  done < <(grep -ohE '"\[?D_[A-Z_]+' src/{cmd,session,kernel,provider}/*.c | tr -d '"[' | sort -u)
}

@test "install puts the program, both libraries, headers, manual, completion, pages, licence and examples in place" {
  for f in bin/tally sbin/dtrace lib/libtally.a lib/libtally.so lib/libtally.so.0 lib/pkgconfig/tally.pc lib/tally/tally-qemu.so \
    include/tally/tally.h include/tally/error.h share/man/man1/tally.1 share/man/man1/tally-trace.1 share/man/man8/dtrace.8 \
    share/doc/tally/LICENSE share/doc/tally/CHANGELOG.md share/doc/tally/SECURITY.md share/doc/tally/spec-cpc.md \
    share/doc/tally/tutorial/cpu.md share/doc/tally/model/power.md share/doc/tally/examples/brendan.c \
    share/bash-completion/completions/tally share/zsh/site-functions/_tally share/fish/vendor_completions.d/tally.fish; do
    [ -s "$DEST/usr/$f" ] || { echo "missing: $f"; return 1; }
  done
  [ "$(find "$DEST/usr/share/doc/tally/examples" -name '*.d' | wc -l)" -eq "$(find examples -name '*.d' | wc -l)" ]
}

@test "an installed tally finds the D libraries that were installed with it" {
  for f in lib/tally/d/*.d; do
    cmp "$f" "$DEST/usr/lib/tally/d/${f##*/}"
  done
  run "$DEST/usr/bin/tally" trace --on=vm -qn 'BEGIN { printf("%d %d", ENOENT, sizeof(psinfo_t) > 100); exit(0); }'
  said 0 "2 1"
}

@test "an installed tally names no script or make target, which only the source tree has" {
  ! strings -n 6 "$DEST/usr/bin/tally" | grep -E '(tools|test|bench)/[a-z-]+\.sh|make (check|bench|all)' || return 1
  for page in "$DEST"/usr/share/man/man1/*.1; do
    ! sed '/^\.SH EXAMPLES/,$d' "$page" | grep -HE --label="$page" 'tools/[a-z-]+\.sh' || return 1
  done
}

@test "the name dtrace is installed only when asked for" {
  make -s install DESTDIR="$BATS_TEST_TMPDIR/plain" PREFIX=/usr
  [ -x "$BATS_TEST_TMPDIR/plain/usr/bin/tally" ]
  [ -z "$(find "$BATS_TEST_TMPDIR/plain" -name 'dtrace*')" ]
}

@test "each file that is installed is in a Debian package, or is said to be in none" {
  local dest=$BATS_TEST_TMPDIR/debian file row found
  make -s install DESTDIR="$dest" PREFIX=/usr LIBDIR=/usr/lib/TRIPLET ZSHDIR=/usr/share/zsh/vendor-completions DTRACE=1
  awk '{ print $1 }' debian/*.install debian/not-installed >"$BATS_TEST_TMPDIR/rows"
  while read -r file; do
    found=
    while read -r row; do [[ $file == $row || $file == $row/* ]] && found=1; done <"$BATS_TEST_TMPDIR/rows"
    [ -n "$found" ] || { echo "$file is in no package: a row in debian/*.install"; return 1; }
  done < <(find "$dest" \( -type f -o -type l \) -printf '%P\n')
}

@test "links of installed tutorials and specification pages lead to installed files" {
  bad=0
  for page in "$DEST"/usr/share/doc/tally/{tutorial/*,spec-*}.md; do
    for link in $(grep -oE '\]\([^):#]+[)#]' "$page" | tr -d '](#)'); do
      [ -e "$(dirname "$page")/$link" ] || { echo "$page: $link"; bad=1; }
    done
  done
  [ $bad -eq 0 ]
}

@test "the version is said once, and both changelogs begin with it" {
  version=$(sed -n 's/^VERSION := //p' Makefile)
  [ "$("$TALLY" --version | sed -n '1s/.* //p')" = "$version" ]
  [ "$(sed -n 's/^## //p' CHANGELOG.md | head -n 1)" = "$version" ]
  [ "$(sed -n '1s/^tally (\(.*\)-[^-]*).*/\1/p' debian/changelog)" = "$version" ]
  [ "$(sed -n 's/^Version: //p' "$DEST/usr/lib/pkgconfig/tally.pc")" = "$version" ]
}

@test "the files that CONTRIBUTING and SECURITY name are there, and what is looked for in them" {
  bad=0
  while read -r file name; do
    [ -e "$file" ] || { echo "no $file"; bad=1; continue; }
    [ -z "$name" ] || grep -qF -- "$name" "$file" || { echo "$file: no $name"; bad=1; }
  done < <(tr '\n' ' ' <CONTRIBUTING.md | grep -oE '`(src|test|doc|include|debian|tools|Makefile|CHANGELOG)[^` *A-Z]*(akefile|HANGELOG\.md)?`( +`[^`]+`)?' | tr -d '`'
    grep -oE '`(src|include)/[^`*]+`' SECURITY.md | tr -d '`')
  [ $bad -eq 0 ]
}

@test "SECURITY's table of rights is the one that the verbs have" {
  while read -r verb rights; do
    case $rights in
    RIGHTS_ALL) row=cap_bpf ;;
    TALLY_RIGHT_COUNT) row='cap_ipc_lock` |' ;;
    0) row='| none |' ;;
    esac
    grep -E "^\|.*\`$verb\`" SECURITY.md | grep -qF "$row" || { echo "$verb $rights"; return 1; }
  done < <(sed -n 's/^\tV(\([a-z]*\), ".*", \(.*\)).*/\1 \2/p' src/cmd/cmd_int.h)
}

@test "a verb without a page of its own, or a line in tally(1), was not missed" {
  for verb in $(sed -n 's/^\tV(\([a-z]*\), ".*", .*/\1/p' src/cmd/cmd_int.h); do
    [ -s "doc/verb/$verb.md" ] || { echo "no doc/verb/$verb.md"; return 1; }
    grep -q "^- .*\`$verb\`.*:" doc/verb/tally.md || { echo "doc/verb/tally.md does not list $verb"; return 1; }
  done
}

@test "the container file gives the capabilities that the manual names, and no others" {
  diff <(grep -oE -- '--cap-add=[A-Z_]+' tools/Containerfile | sed 's/.*=//' | tr A-Z a-z | sort -u) \
    <(awk '/^\| wanted/ { on = 1 } on && /^$/ { exit } on' doc/verb/tally.md | grep -oE 'cap_[a-z_]+' | sed 's/cap_//' | sort -u)
}

@test "CPPFLAGS, CFLAGS and LDFLAGS reach each command of the compiler, and come last" {
  make -n -B all progs tests specs CPPFLAGS=-DONE=1 CFLAGS=-DTWO=2 LDFLAGS=-Wl,--three >"$BATS_TEST_TMPDIR/said"
  grep -E '^gcc .* -c -o' "$BATS_TEST_TMPDIR/said" >"$BATS_TEST_TMPDIR/compile"
  [ -s "$BATS_TEST_TMPDIR/compile" ]
  ! grep -vE -- '-DONE=1 -DTWO=2 -c -o' "$BATS_TEST_TMPDIR/compile" || return 1
  grep -E '^gcc ' "$BATS_TEST_TMPDIR/said" | grep -v -- ' -c -o' | grep -vE 'plugin_|image_' >"$BATS_TEST_TMPDIR/link"
  [ -s "$BATS_TEST_TMPDIR/link" ]
  ! grep -vE -- '-Wl,--three .*-o' "$BATS_TEST_TMPDIR/link" || return 1
}

@test "a warning is an error where WERROR=1 says so, and nowhere else" {
  make -n -B all asan progs WERROR= >"$BATS_TEST_TMPDIR/plain"
  ! grep -e -Werror "$BATS_TEST_TMPDIR/plain" || return 1
  make -n -B all asan progs WERROR=1 >"$BATS_TEST_TMPDIR/strict"
  ! grep -E '^(gcc|clang) .* -c -o' "$BATS_TEST_TMPDIR/strict" | grep -ve -Werror || return 1
}

@test "no test uses what cmocka 2 deprecates" {
  ! grep -rnE '\<assert_(not_)?in_(range|set)\(' --include='*.[ch]' src test/lib | grep -v '^test/lib/base/range.h:'
}

@test "SYSCONFDIR is where dcpc.conf is read from, and the manual says so" {
  make -s B="$BATS_TEST_TMPDIR/b" SYSCONFDIR=/elsewhere "$BATS_TEST_TMPDIR/b/release/provider/cpc.o" "$BATS_TEST_TMPDIR/b/man/tally-trace.1"
  strings "$BATS_TEST_TMPDIR/b/release/provider/cpc.o" | grep -qx /elsewhere/tally/dcpc.conf
  grep -q '/elsewhere/tally/dcpc' "$BATS_TEST_TMPDIR/b/man/tally-trace.1"
}

@test "an ELF note names each library that is opened at run time" {
  sed -n 's/^#define SONAME "\(.*\)"/\1/p' src/*/*.c | sort -u >"$BATS_TEST_TMPDIR/opened"
  [ "$(grep -lE '\<(library_load|dlopen)\(' src/*/*.c | grep -vE '_test|base/file|ask/doctor' | wc -l)" -eq "$(grep -l '^LIBRARY_NOTE(' src/*/*.c | wc -l)" ]
  for file in "$TALLY" "$DEST/usr/lib/libtally.so.0"; do
    readelf -p .note.dlopen "$file" | sed -n 's/.*"soname":\["\([^"]*\)"\]}\].*/\1/p' | sort -u >"$BATS_TEST_TMPDIR/told"
    [ -s "$BATS_TEST_TMPDIR/told" ]
    # One of the two of FUSE: the one whose headers were there.
    [ -z "$(comm -13 "$BATS_TEST_TMPDIR/opened" "$BATS_TEST_TMPDIR/told")" ]
    [ "$(comm -23 "$BATS_TEST_TMPDIR/opened" "$BATS_TEST_TMPDIR/told" | grep -vc libfuse3)" -eq 0 ]
    # Any other name of a library in the file is one that it is linked with, or libelf, which libdw brings.
    readelf -dW "$file" | sed -nE 's/.*(NEEDED|SONAME).*\[(.*)\]/\2/p' >"$BATS_TEST_TMPDIR/needed"
    strings -n 5 "$file" | awk -v told="$BATS_TEST_TMPDIR/told" -v needed="$BATS_TEST_TMPDIR/needed" '
      BEGIN { while ((getline <told) > 0 || (getline <needed) > 0) known[$0] = 1 }
      /^lib[a-z0-9_+-]+[.]so[.0-9]*$/ && !($0 in known) && !/libfuse3/ && $0 != "libelf.so.1"' >"$BATS_TEST_TMPDIR/untold"
    [ ! -s "$BATS_TEST_TMPDIR/untold" ] || { cat "$BATS_TEST_TMPDIR/untold"; return 1; }
  done
}

@test "the symbols file of the Debian package is what the library exports" {
  diff <(sed -n 's/^ \([a-z_0-9]*\)@.*/\1/p' debian/libtally0.symbols | sort) \
    <(nm -D --defined-only "$DEST/usr/lib/libtally.so.0" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
}

@test "each tag of lintian that is overridden has its reason above" {
  for file in debian/*lintian-overrides debian/source/lintian-overrides; do
    awk '/^#/ { reason = 1; next } /^$/ { reason = 0; next } !reason { print FILENAME ": " $0; bad = 1 } END { exit bad }' "$file"
  done
}

@test "a stranger's program builds against the shared library" {
  stranger
}

@test "a stranger's program builds against the static library, whatever names it uses itself" {
  rm "$DEST/usr/lib/libtally.so"
  stranger --static
  ln -s libtally.so.0 "$DEST/usr/lib/libtally.so"
  ! readelf -d "$BATS_TEST_TMPDIR/stranger" | grep -q libtally || return 1
}

@test "every manual page has a name, a synopsis and an exit status, and roff has nothing to complain of" {
  for page in "$DEST"/usr/share/man/man1/tally*.1; do
    for section in NAME SYNOPSIS 'EXIT STATUS' EXAMPLES; do
      grep -q "^\.SH $section" "$page" || { echo "${page##*/}: no $section"; return 1; }
    done
    command -v groff >/dev/null || continue
    said=$(groff -t -man -ww -Tutf8 -z "$page" 2>&1)
    [ -z "$said" ] || { echo "${page##*/}: $said"; return 1; }
    # the end of a name is in its line: ‐ would be read as part of it
    said=$(groff -t -man -Tutf8 -P-cbou "$page" | awk '/[[:alnum:]]_[[:alnum:]_]*‐( *│|$)/')
    [ -z "$said" ] || { echo "${page##*/}: $said"; return 1; }
  done
}

@test "manual pages are the same in Turkish, where the capital of i is another letter" {
  localedef -i tr_TR -f UTF-8 "$BATS_TEST_TMPDIR/tr_TR.UTF-8" 2>/dev/null || skip "localedef has no tr_TR (Debian package locales)"
  local b=$BATS_TEST_TMPDIR/build
  LOCPATH=$BATS_TEST_TMPDIR LC_ALL=tr_TR.UTF-8 make -s B="$b" man
  for page in "$b"/man/*.1; do cmp "$page" "$DEST/usr/share/man/man1/${page##*/}"; done
  grep -q '^[.]TH TALLY-LIST 1' "$b/man/tally-list.1" || { grep '^[.]TH' "$b/man/tally-list.1"; return 1; }
}

@test "bash completes verbs and options" {
  . "$DEST/usr/share/bash-completion/completions/tally"
  words=$(PATH="$DEST/usr/bin:$PATH" bash -c '
    . "$1"; complete -p tally >/dev/null || exit 1
    COMP_WORDS=(tally tr) COMP_CWORD=1
    "$(complete -p tally | sed "s/.*-F \([^ ]*\).*/\1/")" tally tr tally
    echo "${COMPREPLY[@]}"' sh "$DEST/usr/share/bash-completion/completions/tally")
  [ "${words%% *}" = trace ]
}


@test "deps.sh names what is missing and installs nothing when told so" {
  mkdir "$BATS_TEST_TMPDIR/bin"
  printf '#!/bin/sh\nexit 1\n' >"$BATS_TEST_TMPDIR/bin/dpkg-query"
  chmod +x "$BATS_TEST_TMPDIR/bin/dpkg-query"
  run env PATH="$BATS_TEST_TMPDIR/bin:$PATH" TALLY_NO_INSTALL=1 tools/deps.sh build
  [ "$status" -eq 2 ]
  [[ "$output" == *libbpf-dev* && "$output" != *clang* ]]
}

@test "run-tests.sh adds up passes, failures, skips and deaths" {
  tap() { printf '#!/bin/bash\n%s\n' "$2" >"$BATS_TEST_TMPDIR/$1"; chmod +x "$BATS_TEST_TMPDIR/$1"; }
  tap mixed 'echo "1..3"; echo "ok 1 - a"; echo "not ok 2 # SKIP b"; echo "not ok 3 - c"; exit 1'
  tap dies 'echo "ok 1 - a"; kill -SEGV $$'
  tap silent ':'
  tap leaks 'echo "ok 1 - a"; exit 23'
  tap slow 'echo "ok 1 - a"; sleep 60'
  tap fine 'echo "ok 1 - a"; echo "ok 2 - b # SKIP no PMU"'
  cd "$BATS_TEST_TMPDIR"
  run "$ROOT/tools/run-tests.sh" -t 1 ./mixed ./dies ./silent ./leaks ./slow ./fine
  [ "$status" -eq 1 ]
  [ "${lines[-1]}" = "5 passed, 5 failed, 2 skipped" ]
  run "$ROOT/tools/run-tests.sh" ./fine
  [ "$status" -eq 0 ]
}

@test "the program is position independent, with read-only relocations bound at the start, and checks its stack and buffers" {
  readelf -hW "$TALLY" | grep -q 'Type:.*DYN'
  readelf -dW "$TALLY" | grep -q 'FLAGS_1.*PIE'
  readelf -dW "$TALLY" | grep -q 'FLAGS).*BIND_NOW'
  readelf -lW "$TALLY" | grep -q GNU_RELRO
  ! readelf -lW "$TALLY" | grep 'GNU_STACK' | grep -q E || return 1
  readelf -W --dyn-syms "$TALLY" | grep -q ' __stack_chk_fail@'
  readelf -W --dyn-syms "$TALLY" | grep -q ' __snprintf_chk@'
}

@test "measure.sh counts one-word names, fragments with one use, comment lines and the lines of each room" {
  cp -R tools .clang-format "$BATS_TEST_TMPDIR/" && cd "$BATS_TEST_TMPDIR" && git init -q .
  mkdir -p src/base src/facts include/tally
  cat >src/base/x.c <<'C'
/* A comment is no use: judge(). */
static int judge(int n);
static int judge(int n)
{
	return n ? judge(n - 1) : 0;
}

static const char *name_of(int n)
{
	return n ? "name_of(" : "no";
}

int x_run(int n)
{
	return judge(n) + *name_of(n); /* said beside code */
}
C
  echo 'static int test_me(void) { return 0; }' >src/base/x_test.c
  echo 'int y(void);' >include/tally/y.h
  printf 'int y(void)\n{\n  return 0;\n}\n' >src/facts/y.c
  git add . && git -c user.name=a -c user.email=a@b commit -qm one
  sed -i 's/judge/n_judge/' src/base/x.c
  tools/measure.sh HEAD >out
  line() { grep -E "^  $1 +$2 +$3\$" out || { cat out; return 1; }; }
  line 'static functions' 2 2
  line 'of one word, %' 50.0 0.0
  line 'mean length, letters' 6.0 7.0
  line 'statics with one use and at most 8 lines' 1 1
  line 'comment lines, %' 4.8 4.8
  line base 16 16
  line facts 4 4
  line 'differ from their .clang-format' 2 2
  run tools/measure.sh no-such-commit
  [ "$status" -eq 2 ]
}

@test "mutate.awk makes the mistakes that it lists, in bodies of functions and nowhere else" {
  cd "$BATS_TEST_TMPDIR"
  printf '%s\n' '#define LESS(a) ((a) < 3)' 'static const int n[] = { 1, 2 };' 'int f(int a, char *s)' '{' '	int b[4];' '' \
    '	/* a < b */' "	if (a <= 12 && s[0] != '<')" '		return call(a, "x == 1");' '	call(a,' '	     b);' '	b[0] = a;' '	return !b[0];' '}' >x.c
  LC_ALL=C awk -f "$ROOT/tools/mutate.awk" x.c >rows
  diff - <(cut -f 2,4 rows | tr '\t' ' ') <<'ROWS'
8 <= to <
8 && to ||
8 != to ==
8 12 to 13
8 0 to 1
8 if never taken
10 call dropped
12 0 to 1
12 assignment dropped
13 ! dropped
13 0 to 1
ROWS
  while IFS=$'\t' read -r _ _ edits change _; do
    LC_ALL=C awk -v edits="$edits" -f "$ROOT/tools/mutate.awk" x.c >"y.c"
    diff x.c y.c | sed -n 's/^> *//p' | tr -d '\t'
  done <rows >made
  diff - made <<'MADE'
if (a < 12 && s[0] != '<')
if (a <= 12 || s[0] != '<')
if (a <= 12 && s[0] == '<')
if (a <= 13 && s[0] != '<')
if (a <= 12 && s[1] != '<')
if ((a <= 12 && s[0] != '<') && 0)
;
b[1] = a;
;
return b[0];
return !b[1];
MADE
}

@test "mutate.sh takes files of the product only, and the same places for the same seed" {
  run tools/mutate.sh -l src/base/base_test.c
  said 2 "mutate.sh: src/base/base_test.c is no .c file of src/ that goes into the product"
  tools/mutate.sh -l --seed 7 --count 5 >"$BATS_TEST_TMPDIR/one"
  tools/mutate.sh -l --seed 7 --count 5 >"$BATS_TEST_TMPDIR/two"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/one")" -eq 5 ]
  cmp "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/two"
  ! tools/mutate.sh -l --seed 8 --count 5 | cmp -s - "$BATS_TEST_TMPDIR/one" || return 1
}

@test "mutate.sh chooses the same places of a file whatever is written in another" {
  local file=src/base/text.c
  tools/mutate.sh -l --seed 7 --count 40 src/base/buf.c $file | grep "^$file" >"$BATS_TEST_TMPDIR/beside"
  [ -s "$BATS_TEST_TMPDIR/beside" ]
  tools/mutate.sh -l --seed 7 --count "$(wc -l <"$BATS_TEST_TMPDIR/beside")" $file | cmp - "$BATS_TEST_TMPDIR/beside"
}

@test "mutate.sh names the test that catches a change, and goes on where it ended" {
  unshare -m -p -f --kill-child --mount-proc $([ "$(id -u)" -eq 0 ] || echo --map-current-user) true 2>/dev/null || skip "no name spaces (unshare)"
  local tree="$ROOT/build/mutated" # what is below /tmp can't be tested
  rm -rf "$tree" && mkdir -p "$tree"/{src/base,test,tools} && cp tools/{mutate.sh,mutate.awk,rooms} "$tree/tools/" && cd "$tree" && git init -q .
  cat >src/base/x.c <<'C'
int x_is_positive(int a)
{
	return a > 0; /* not \0 */
}
C
  cat >src/base/x_test.c <<'C'
#include <stdio.h>
int x_is_positive(int a);
int main(void)
{
	const int ok = x_is_positive(1) && !x_is_positive(-1);

	printf("1..1\n%s 1 - one is positive\n", ok ? "ok" : "not ok");
	return !ok;
}
C
  cat >Makefile <<'M'
all progs build/tally:
build/release/base/x.o: src/base/x.c ; mkdir -p $(@D) && gcc $(CFLAGS) -c -o $@ $<
build/asan/base/x.o: src/base/x.c ; mkdir -p $(@D) && gcc $(CFLAGS) $(ASAN) -c -o $@ $<
build/test/base_x_test: src/base/x_test.c build/asan/base/x.o ; mkdir -p $(@D) && gcc $(CFLAGS) $(ASAN) -o $@ $^
M
  for room in $(sed -n '/^rooms()/,/^}/s/^base //p' tools/mutate.sh); do echo '@test "it is" { true; }' >"test/$room.bats"; done
  echo build >.gitignore
  run tools/mutate.sh --rows rows src/base/x.c
  [ "$status" -eq 1 ]
  [[ $output == *"0 to 1 "*"caught: base_x_test: one is positive"* && $output == *"> to >= "*" survived"* ]]
  [ "${lines[-1]}" = "1 of 2 caught (50.0 %), 1 survived; not counted: 0 equivalent, 0 of the same code, 0 that do not compile" ]
  cmp src/base/x.c build/mutate/tree-1/src/base/x.c
  tools/mutate.sh --rows rows --least 50 -j 2 src/base/x.c >again
  [ "$(wc -l <again)" -eq 1 ] # both places have their rows
  sed -i '/survived/d' rows
  sed -i 's/!x_is_positive(-1)/!x_is_positive(0)/' src/base/x_test.c
  tools/mutate.sh --rows rows src/base/x.c >again
  [ "$(wc -l <again)" -eq 2 ]
  [ "$(tail -n 1 again)" = "2 of 2 caught (100.0 %), 0 survived; not counted: 0 equivalent, 0 of the same code, 0 that do not compile" ]
  printf 'src/base/x.c\t> to >=\treturn a > 0; /* not \\0 */\tsaid here\n' >test/mutants.equivalent
  tools/mutate.sh -j 2 --json src/base/x.c | python3 -c '
import json, sys
j = json.load(sys.stdin)
assert sorted((m["verdict"], m["words"]) for m in j["mutants"]) == [("caught", "base_x_test: one is positive"), ("equivalent", "said here")], j
assert (j["caught"], j["survived"], j["equivalent"], j["share"]) == (1, 0, 1, 100), j'
}

@test "each file of command-line tests is a row's in mutate.sh, but those of the documents" {
  sed -n '/^rooms()/,/^}/p' tools/mutate.sh | tr ' ' '\n' >"$BATS_TEST_TMPDIR/rows"
  for file in test/*.bats; do
    name=$(basename "$file" .bats)
    case $name in examples | house | library | newcomer | pages | tutorial) continue ;; esac
    grep -qx -- "$name" "$BATS_TEST_TMPDIR/rows" || { echo "$name is in no row of rooms"; return 1; }
  done
}

@test "what mutate.sh counts as equivalent is still there, with a reason" {
  LC_ALL=C awk -f tools/mutate.awk $(find src -name '*.c') | cut -f 1,4,5 | sort -u >"$BATS_TEST_TMPDIR/there"
  while IFS=$'\t' read -r file change text why; do
    case $file in '' | '#'*) continue ;; esac
    [ -n "$why" ] && grep -qxF -- "$file	$change	$text" "$BATS_TEST_TMPDIR/there" || { echo "$file $change: $text"; return 1; }
  done <test/mutants.equivalent
}
