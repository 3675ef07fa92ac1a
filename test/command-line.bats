#!/usr/bin/env bats
# The command line: verbs, options, help, what is refused and how.  Needs no privileges.
load common

@test "without a verb usage goes to stderr, with status 2" {
  run bash -c "'$TALLY' 2>&1 >/dev/null"
  [ "$status" -eq 2 ]
  has "usage: tally VERB"
}

@test "help lists the verbs on stdout" {
  for word in help --help -h; do
    run bash -c "'$TALLY' $word 2>/dev/null"
    [ "$status" -eq 0 ]
    has "  trace        run a D program over CPU events"
  done
}

@test "help of a verb is the verb's -h" {
  [ "$("$TALLY" help trace)" = "$("$TALLY" trace -h)" ]
  [ "$("$TALLY" trace --help)" = "$("$TALLY" trace -h)" ]
}

@test "help of every verb fits 80 columns" {
  verbs=$("$TALLY" help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p')
  [ "$(wc -w <<<"$verbs")" -ge 12 ]
  for verb in help $verbs; do
    wide=$("$TALLY" $verb --help | awk 'length > 80')
    [ -z "$wide" ] || { echo "$verb: $wide"; return 1; }
  done
}

@test "the version is one line, and below it what tally is made of" {
  run "$TALLY" --version
  [ "$status" -eq 0 ]
  [[ "${lines[0]}" =~ ^tally\ [0-9]+\.[0-9.]+$ ]]
  [[ "${lines[1]}" =~ ^\ \ libbpf\ +[0-9.]+\ .*\(inside\)$ ]]
  for name in libpfm4 liblzma libzstd libfuse3 Unicorn DuckDB; do grep -qE "^  $name +([0-9v.]+ |- .*not found)" <<<"$output"; done
  ! grep -qE '.{81}' <<<"$output"
  [ "$("$TALLY" trace -V)" = "${lines[0]}" ]
  [ "$(as_dtrace -V)" = "dtrace: ${lines[0]}" ]
}

@test "an unknown verb names the nearest" {
  run "$TALLY" trac
  said 2 "tally: there is no verb 'trac'; did you mean 'trace'?"
  run "$TALLY" frobnicate
  said 2 "tally: there is no verb 'frobnicate'; 'tally help' lists them"
  run "$TALLY" help frobnicate
  [ "$status" -eq 2 ]
}

@test "under the name dtrace it is tally trace, and says so in its messages" {
  run as_dtrace --on=vm -qn 'BEGIN { trace("x"); exit(0); }'
  said 0 "x"
  run as_dtrace -k
  said 2 "dtrace: there is no option -k
dtrace: 'tally trace -h' shows the options"
}

@test "wrong options end with status 2 and say what is wrong" {
  expect() { # TEXT OPTIONS...
    run "$TALLY" trace "${@:2}"
    [ "$status" -eq 2 ] && [ "${lines[0]}" = "tally: $1" ] || { echo "${*:2}: $status: $output"; return 1; }
  }
  expect "there is no option -k" -k
  expect "there is no option -k" -qkn BEGIN
  expect "there is no option --frob" --frob
  expect "there is no option --frob=1" --frob=1
  expect "-n needs an argument: CLAUSE" -n
  expect "-o needs an argument: FILE" -qo
  expect "--json takes no argument" --json=yes
  expect "--dump=ast is none of: parse bind type lower check bpf" --dump=ast -n BEGIN
  expect "--on=mars is none of: local vm niagara maramba batoka power, and no file" --on=mars -n BEGIN
  expect "-p x1: not a process id" -p x1 -n BEGIN
  expect "-p 0: not a process id" -p 0 -n BEGIN
  expect "-o can be given once" -o a -o b -n BEGIN
  expect "-c can be given once" -c a -c b -n BEGIN
  expect "-c and -p both set \$target: give one of them" -c a -p 1 -n BEGIN
  expect "no program: give -n CLAUSE or -s FILE"
  expect "no program: give -n CLAUSE or -s FILE" argument
  expect "no program: give -n CLAUSE or -s FILE" -- -n BEGIN
}

@test "dtrace's other options are refused by name with what to do instead" {
  for option in -a -A -C -DX -F -G -H -i1 -I. -L. -S -UX -Xs -32 -64; do
    run "$TALLY" trace "$option" -n BEGIN
    [ "$status" -eq 2 ] || { echo "$option: $status"; return 1; }
    [[ "$output" == "tally: ${option:0:2} is not supported: "?????* ]] || { echo "$option: $output"; return 1; }
  done
}

@test "the manual page has every option of the table, and no other" {
  page=$BATS_TEST_DIRNAME/../doc/verb/trace.md
  "$TALLY" trace -h | sed -n 's/^  \(-[^ ,]*\|    --[^ =]*\).*/\1/p' | tr -d ' ' | sort >"$BATS_TEST_TMPDIR/table"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/table")" -gt 20 ]
  while read -r option; do
    grep -qE -- "\`$option( |=|\`|[24]\`)" "$page" || { echo "not in the page: $option"; return 1; }
  done <"$BATS_TEST_TMPDIR/table"
  sed -n '/^## OPTIONS$/,/^## OPTIONS OF/s/^- `\(-[-a-zA-Z]*\).*/\1/p' "$page" | while read -r option; do
    grep -qxF -- "$option" "$BATS_TEST_TMPDIR/table" || { echo "not in the table: $option"; return 1; }
  done
}

@test "the manual page has every option of the language" {
  "$TALLY" completion bash | sed -n "s/.*-x|.*-W '\([^']*\)'.*/\1/p" | tr ' ' '\n' | grep . >"$BATS_TEST_TMPDIR/options"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/options")" -gt 15 ]
  for inert in aggrate cleanrate nolibs destructive; do sed -i "/^$inert$/d" "$BATS_TEST_TMPDIR/options"; done
  while read -r option; do
    grep -q "\`$option\`" "$BATS_TEST_DIRNAME/../doc/verb/trace.md" || { echo "not in the page: $option"; return 1; }
  done <"$BATS_TEST_TMPDIR/options"
}

# completes WORD...: what bash offers for the last word.
completes() {
  "$TALLY" completion bash >"$BATS_TEST_TMPDIR/completion"
  mkdir -p "$BATS_TEST_TMPDIR/path" && ln -sf "$(realpath "$TALLY")" "$BATS_TEST_TMPDIR/path/tally"
  PATH=$BATS_TEST_TMPDIR/path:$PATH bash -c '. "$1"; shift; compopt() { :; }; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    COMP_LINE=${line-$*} COMP_POINT=${#COMP_LINE}; _tally; echo "${COMPREPLY[*]}"' \
    sh "$BATS_TEST_TMPDIR/completion" "$@"
}

@test "completion knows verbs, options, values and files" {
  cd "$BATS_TEST_TMPDIR" && : >script-1.d && : >script-2.d
  [ "$(completes tally tr)" = trace ]
  [ "$(completes tally trace --js)" = --json ]
  [ "$(completes tally trace -x strs)" = strsize ]
  [ "$(completes tally trace -qx strs)" = strsize ]
  [ "$(completes dtrace -x strs)" = strsize ]
  [ "$(completes tally trace -s script)" = "script-1.d script-2.d" ]
  [ "$(completes tally trace -qs script)" = "script-1.d script-2.d" ]
  [ "$(completes tally trace --dump = b)" = "bind bpf" ]
  [ "$(completes tally trace --on = v)" = vm ]
  [ "$(completes tally help tr)" = trace ]
  [[ " $(completes tally trace -) " == *" -n "*" --json "* ]]
  [[ " $(completes tally trace -) " != *" -G "* ]]
  run "$TALLY" completion fish
  said 2 "tally: usage: tally completion bash|zsh"
}

@test "completion knows events, probes, machines, loads and views" {
  [ "$(completes tally stat -e cpu_clo)" = cpu_clock ]
  [ "$(completes tally list ev)" = events ]
  [ "$(completes tally list events page_f)" = page_faults ]
  [ "$(completes tally list --on kunp)" = kunpeng ]
  [ "$(completes tally machine nia)" = niagara ]
  [ "$(completes tally stat --on kunpeng --load = inge)" = ingest ]
  [ "$(completes tally stat --view = ce)" = cec ]
  [ "$(completes tally stat --profile = op)" = opensparc ]
  [ "$(completes tally trace -P pro)" = profile ]
  # A probe in quotes is one word to bash; without, it is split at its colons.
  [ "$(completes tally trace -n "'cpc:::cpu_clock-u")" = cpc:::cpu_clock-user- ]
  [ "$(line="tally trace -n cpc:::cpu_clock-u" completes tally trace -n cpc ::: cpu_clock-u)" = cpu_clock-user- ]
  [ "$(line="tally trace -n mmustat:::" completes tally trace -n mmustat :::)" = sample-1s ]
  [ "$(completes tally trace -n profile-97)" = "" ]
}

@test "every verb is completed, and each of its options" {
  for verb in $("$TALLY" help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    [ "$(completes tally "$verb")" = "$verb" ] || [[ " $(completes tally "$verb") " == *" $verb "* ]]
    for option in $("$TALLY" "$verb" -h | sed -n '/^Options:/,/^$/s/^  \(-[a-zA-Z], \|    \)--\([-a-z]*\).*/--\2/p'); do
      [[ "$(completes tally "$verb" "$option")" == "$option"* ]] || { echo "$verb $option"; return 1; }
    done
  done
}

@test "completion is a script that the shell accepts" {
  "$TALLY" completion bash | bash -n
  command -v zsh >/dev/null || skip "no zsh to read its script"
  "$TALLY" completion zsh | zsh -n
}
