# What the TAB key offers.  bash is asked through the words that it would hand over, and once at a terminal; fish through
# its own `complete -C`; zsh at a terminal.

load common

setup_file() {
  export SHELLS="$BATS_FILE_TMPDIR"
  mkdir -p "$SHELLS/path"
  ln -sf "$(realpath "$TALLY")" "$SHELLS/path/tally"
  ln -sf "$(realpath "$TALLY")" "$SHELLS/path/dtrace"
  for shell in bash zsh fish; do "$TALLY" completion $shell >"$SHELLS/$shell"; done
}

setup() {
  cd "$BATS_TEST_TMPDIR"
  PATH=$SHELLS/path:$PATH
}

# ---- bash ---------------------------------------------------------------------------------------------------

# What bash makes of a line: words are parted by blanks, and by the characters of COMP_WORDBREAKS into parts of their own.
bash_words() {
  local rest=$1 token
  WORDS=()
  while [[ $rest ]]; do
    if [[ $rest =~ ^[[:space:]]+ ]]; then
      rest=${rest#"${BASH_REMATCH[0]}"}
      [[ $rest ]] || WORDS+=("")
      continue
    elif [[ $rest == [\'\"]* ]]; then token=$rest
    elif [[ $rest =~ ^[=:\<\>\;\&\|]+ ]]; then token=${BASH_REMATCH[0]}
    else [[ $rest =~ ^[^[:space:]=:\<\>\;\&\|]+ ]]; token=${BASH_REMATCH[0]}; fi
    WORDS+=("$token")
    rest=${rest#"$token"}
  done
}

# offers LINE: what bash would put in place of the last part of the line, which ends at the cursor; $behind goes on after it.
offers() {
  bash_words "$1"
  bash --norc -c '. "$1"; line=$2 behind=$3; shift 3; compopt() { :; }; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    COMP_LINE=$line$behind COMP_POINT=${#line}; _tally; echo "${COMPREPLY[*]}"' sh "$SHELLS/bash" "$1" "${behind-}" "${WORDS[@]}"
}

# offers_of LINE WORDS
offers_of() {
  local got
  got=$(offers "$1")
  [ "$got" = "$2" ] || { echo "'$1' offers '$got', not '$2'"; return 1; }
}

@test "bash knows verbs, options, values and files" {
  : >script-1.d && : >script-2.d
  offers_of "tally tr" trace
  offers_of "tally help tr" trace
  offers_of "tally comp" completion
  offers_of "tally completion " "bash zsh fish"
  offers_of "tally trace --js" --json
  offers_of "tally trace -x strs" strsize
  offers_of "tally trace -qx strs" strsize
  offers_of "dtrace -x strs" strsize
  offers_of "dtrace -n profile:::tick-50" "tick-500 tick-5000"
  offers_of "tally trace -s script-1" script-1.d
  offers_of "tally trace -qs script-2" script-2.d
  offers_of "tally trace --dump=b" "bind bpf"
  offers_of "tally trace --on=v" vm
  offers_of "tally trace --on=" "local vm niagara maramba batoka power"
  offers_of "tally stat --profile=" "spec driver opensparc"
  offers_of "tally list ev" events
  offers_of "tally list events page_f" page_faults
  offers_of "tally stat --on kunpeng --load=inge" ingest
  offers_of "tally stat --view=ce" cec
  offers_of "tally trace -P prof" profile
  offers_of "tally export --partition host,ca" host,capture
  [[ " $(offers "tally trace -") " == *" -n "*" --json "* ]]
  [[ " $(offers "tally trace -") " != *" -A "* ]]
}

@test "bash knows events, one after the other" {
  offers_of "tally stat -e cpu_clo" cpu_clock
  offers_of "tally stat -e cpu_cycles,page_faul" cpu_cycles,page_faults
  offers_of "tally stat --event=cpu_cycles,page_faul" cpu_cycles,page_faults
  offers_of "tally stat -e gpci/ent" gpci/entitled/
  [ "$(offers "tally stat -e gpci/entitled,partition=2/,page_faul")" = 2/,page_faults ]       # bash has what is before the =
  offers_of "tally stat -e cpu_cycles,gpci/ent" cpu_cycles,gpci/entitled/
  offers_of "tally stat --on power -e cpu_clo" ""
  offers_of "tally stat --on power -e gpci/ent" gpci/entitled/
  offers_of "tally stat -e cpu_clock --on batoka -e vfalls/l2" ""                              # a register, which get takes
  offers_of "tally stat --on batoka -e vfalls/zam0_gp" vfalls/zam0_gpd,event=clock_cycles/
  offers_of "tally stat --on batoka -e vfalls/zam0_gpd,event=cl" clock_cycles/ # bash has what is before the =
  behind=" -e cpu_clock --on niagara" offers_of "tally stat -e mmustat/al" mmustat/all/
  offers_of "tally stat -e cyc" cycles                                                        # as perf and the manual have it
  offers_of "tally trace -n 'cpc:::cycles-us" cpc:::cycles-user-
}

@test "bash knows selectors, devices and tunables" {
  offers_of "tally get --on power gpci/disp" gpci/dispatch_purr/
  offers_of "tally get --on niagara mmustat/al" mmustat/all/
  offers_of "tally get --on batoka gpci/disp" ""
  offers_of "tally get --on kunpeng hisi_ptt0_2/qos_tx_c" hisi_ptt0_2/qos_tx_cpl
  offers_of "tally set --on kunpeng hisi_ptt0_2/qos_tx_c" hisi_ptt0_2/qos_tx_cpl=
  offers_of "tally record --on kunpeng -e hisi_ptt0_2" hisi_ptt0_2/
  offers_of "tally tune --on kunpeng hisi_ptt0_2" hisi_ptt0_2
  behind=" --on kunpeng" offers_of "tally tune hisi_ptt0_2" hisi_ptt0_2
  offers_of "tally record --on kunpeng -e hisi_ptt0_2/fo" "hisi_ptt0_2/format=4dw hisi_ptt0_2/format=8dw"
  [[ " $(offers "tally record --on kunpeng -e hisi_ptt0_2/fi")" == *" hisi_ptt0_2/filter=0000:00:10.0 "* ]]
  offers_of "tally record --on kunpeng -e hisi_ptt0_2/filter=00:10.0,format=8" 8dw
  behind=" --on kunpeng" offers_of "tally record -e hisi_ptt0_2/type=c" cpl
  offers_of "tally record --on kunpeng -e hisi_ptt9_9/fo" ""
  offers_of "tally tune hisi_ptt0_2 --for th" throughput
  offers_of "tally check v" vfalls
  for what in $(sed -n 's/.*\.usage = "\[option\]... \([a-z|]*\)",/\1/p' "$BATS_TEST_DIRNAME/../src/cmd/check.c" | tr '|' ' '); do
    [[ " $(offers "tally check ") " == *" $what "* ]]
  done
}

@test "bash knows platforms and their keys" {
  : >trace.data
  offers_of "tally list --on ku" kunpeng
  offers_of "tally list --on=ku" kunpeng
  [[ "$(offers "tally list --on kunpeng,")" == "kunpeng,seed= kunpeng,load="* ]]
  [[ "$(offers "tally list --on kunpeng,lo")" == "kunpeng,load="*" kunpeng,load="* ]]
  [ "$(offers "tally list --on kunpeng,load=inge")" = ingest ]
  offers_of "tally list --on power,fi" power,firmware=
  [ "$(offers "tally list --on power,load=mixed,firm")" = mixed,firmware= ]
  offers_of "tally machine kunpeng,se" kunpeng,seed=
  offers_of "tally machine nia" niagara
  offers_of "tally list --on un" unix:
  offers_of "tally list --on unix:./tr" ./trace.data
  offers_of "tally trace --on ./tr" ./trace.data
  offers_of "tally list --on local," ""
}

@test "bash completes a probe in quotes as one word, and else at its colons" {
  offers_of "tally trace -n 'cpc:::cpu_clock-u" cpc:::cpu_clock-user-
  offers_of "tally trace -n cpc:::cpu_clock-u" cpu_clock-user-
  offers_of "tally trace -n 'BEGIN,cpc:::cpu_clock-u" BEGIN,cpc:::cpu_clock-user-
  offers_of "tally trace --on niagara -n mmustat:::" sample-1s
  offers_of "dtrace -n cpc:::cpu_clock-u" cpu_clock-user-
  offers_of "tally trace -n profile-97" ""
}

@test "bash offers nothing of tally's behind -- and among a command's words" {
  mkdir bin && : >--alone
  offers_of "tally stat -- ls --al" --alone               # a file; no option of tally's
  offers_of "tally stat -e cpu_clock ls --al" --alone
  offers_of "tally stat -e cpu_clock -I 10 ls -e cpu_clo" ""
  offers_of "tally record -e x/y/ -- ls --al" --alone
  offers_of "tally tune hisi_ptt0_2 --for latency -- ls --al" --alone
  offers_of "tally stat --dura" --duration=
  offers_of "tally stat -e cpu_clock --dura" --duration=
  offers_of "tally trace -n BEGIN -- --al" --alone
  [[ " $(offers "tally stat -- tal") " == *" tally "* ]]
  [[ " $(offers "tally stat -e cpu_clock tal") " == *" tally "* ]]
}

@test "bash leaves a command to its own completion where it can be found" {
  bash_words "tally stat -e cpu_clock -- frob --al"
  run bash --norc -c '. "$1"; shift; compopt() { :; }; _command_offset() { COMPREPLY=("from ${COMP_WORDS[$1]}"); }
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=38; COMP_POINT=${#COMP_LINE}; _tally; echo "${COMPREPLY[*]}"' \
    sh "$SHELLS/bash" "${WORDS[@]}"
  said 0 "from frob"
}

@test "a name that a shell would run is not offered" {
  printf '#!/bin/sh\necho good\necho "go\\$(touch ran)"\necho "go;touch ran"\n' >fake && chmod +x fake
  run bash --norc -c '. "$1"; compopt() { :; }; COMP_WORDS=(./fake stat -e go) COMP_CWORD=3 COMP_LINE="./fake stat -e go" COMP_POINT=17
    _tally; echo "${COMPREPLY[*]}"' sh "$SHELLS/bash"
  said 0 good
  [ ! -e ran ]
}

@test "every verb is completed, and each of its options" {
  for verb in $("$TALLY" help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p') completion; do
    [[ " $(offers "tally $verb") " == *" $verb "* ]]
    for option in $("$TALLY" "$verb" -h | sed -n '/^Options:/,/^$/s/^  \(-[a-zA-Z], \|    \)--\([-a-z0-9]*\).*/--\2/p'); do
      [[ "$(offers "tally $verb $option")" == "$option"* ]] || { echo "$verb $option"; return 1; }
    done
  done
}

# at_terminal SHELL...: the shell with the lines of standard input typed; what it shows, without colours.
at_terminal() {
  TERM=dumb timeout 60 script -qec "$*" /dev/null 2>&1 | sed 's/\x1b\[[?0-9;]*[a-zA-Z]//g; s/\r//g'
}

@test "bash at a terminal puts in what is offered" {
  command -v script >/dev/null || skip "no script(1)"
  printf 'PS1="> "; PATH=%s; show() { printf "<%%s>" "$@"; echo; }\n. %s; complete -F _tally show\n' "$PATH" "$SHELLS/bash" >rc
  printf '%s\n' 'tally() { printf "<%s>" "$@"; echo; }; _tally_run() { command tally "$@" 2>/dev/null; }' >>rc
  printf 'tally stat -e cpu_cycles,page_faul\t\ntally stat --on=kunpeng,load=inge\t\ntally trace -n cpc:::cpu_clock-u\t1000\ntally get --on power gpci/disp\t\nexit\n' |
    at_terminal bash --rcfile rc -i >seen
  for want in '<stat><-e><cpu_cycles,page_faults>' '<stat><--on=kunpeng,load=ingest>' '<trace><-n><cpc:::cpu_clock-user-1000>' \
    '<get><--on><power><gpci/dispatch_purr/>'; do
    grep -qF -- "$want" seen || { echo "no $want in:"; cat seen; return 1; }
  done
}

@test "the scripts are such that their shells accept" {
  bash -n "$SHELLS/bash"
  ! command -v zsh >/dev/null || zsh -n "$SHELLS/zsh"
  ! command -v fish >/dev/null || fish -n "$SHELLS/fish"
}

# ---- zsh ------------------------------------------------------------------------------------------------------

@test "zsh at a terminal puts in what is offered" {
  command -v zsh >/dev/null || skip "no zsh"
  command -v script >/dev/null || skip "no script(1)"
  cat >.zshrc <<-EOF
	PROMPT='> '; PATH=$PATH; unsetopt prompt_cr prompt_sp; unsetopt zle_bracketed_paste 2>/dev/null
	autoload -Uz compinit; compinit -u -d $PWD/dump
	. $SHELLS/zsh
	show() { printf '<%s>' "\$@"; echo }
	compdef show=tally
	EOF
  sed -i "s|local tally=\$words\[1\]|local tally=tally|" "$SHELLS/zsh"
  printf '%s\n' $'show stat -e cpu_cycles,page_faul\t' $'show stat --on=kunpeng,load=inge\t' $'show get --on power gpci/disp\t' \
    $'show list --on power,firm\t8' $'show completion fi\t' $'show record --on kunpeng -e hisi_ptt0_2/format=8\t,type=c\t/' \
    $'show stat -e cpu_clock -- show comple\t' $'show stat -e cpu_clock show comple\t' \
    $'show tune hisi_ptt0_2 --for latency -- show comple\t' $'show stat -- show stat --dur\t=5' exit >typed
  ZDOTDIR=$PWD at_terminal zsh -i <typed >seen
  for want in '<stat><-e><cpu_cycles,page_faults>' '<stat><--on=kunpeng,load=ingest>' '<get><--on><power><gpci/dispatch_purr/>' \
    '<list><--on><power,firmware=8>' '<completion><fish>' '<record><--on><kunpeng><-e><hisi_ptt0_2/format=8dw,type=cpl/>' \
    '<stat><-e><cpu_clock><--><show><completion>' '<stat><-e><cpu_clock><show><completion>' \
    '<tune><hisi_ptt0_2><--for><latency><--><show><completion>' '<stat><--><show><stat><--duration=5>'; do
    grep -qF -- "$want" seen || { echo "no $want in:"; cat seen; return 1; }
  done
}

# ---- fish -----------------------------------------------------------------------------------------------------

# fish_offers LINE: the replies, without what is said of them.
fish_offers() { fish -N -c "source $SHELLS/fish; complete -C \"$1\"" | cut -f1 | tr '\n' ' ' | sed 's/ $//'; }
fish_of() {
  local got
  got=$(fish_offers "$1")
  [ "$got" = "$2" ] || { echo "'$1' offers '$got', not '$2'"; return 1; }
}

@test "fish knows verbs, options, events, selectors, platforms, and leaves a command alone" {
  command -v fish >/dev/null || skip "no fish"
  export HOME=$PWD XDG_CONFIG_HOME=$PWD XDG_DATA_HOME=$PWD
  : >script-1.d && : >--alone
  fish_of "tally tra" trace
  fish_of "tally help tra" trace
  fish_of "tally trace --js" --json
  fish_of "tally trace --dump=b" "--dump=bind --dump=bpf"
  fish_of "tally trace -s script" script-1.d
  fish_of "tally stat -e cpu_clo" cpu_clock
  fish_of "tally stat -e cpu_cycles,page_faul" cpu_cycles,page_faults
  fish_of "tally stat --event=cpu_cycles,page_faul" --event=cpu_cycles,page_faults
  fish_of "tally stat -e gpci/ent" gpci/entitled/
  fish_of "tally stat --on power -e cpu_clo" ""
  fish_of "tally get --on power gpci/disp" gpci/dispatch_purr/
  fish_of "tally get --on kunpeng hisi_ptt0_2/qos_tx_c" hisi_ptt0_2/qos_tx_cpl
  fish_of "tally record --on kunpeng -e hisi_ptt0_2" hisi_ptt0_2/
  fish_of "tally record --on kunpeng -e hisi_ptt0_2/fo" "hisi_ptt0_2/format=4dw hisi_ptt0_2/format=8dw"
  fish_of "tally record --on kunpeng -e hisi_ptt0_2/format=8dw,type=c" hisi_ptt0_2/format=8dw,type=cpl
  fish_of "tally stat -e cyc" cycles
  fish_of "tally list --on ku" kunpeng
  fish_of "tally list --on kunpeng,load=inge" kunpeng,load=ingest
  fish_of "tally list --on=power,firm" --on=power,firmware=
  fish_of "tally machine kunpeng,se" kunpeng,seed=
  fish_of "tally list events page_f" page_faults
  fish_of "tally completion fi" fish
  fish_of "dtrace -x strs" strsize
  fish_of "tally trace -n cpc:::cpu_clock-u" cpc:::cpu_clock-user-
  [[ " $(fish_offers "tally stat -e cpu_clock -- ls --al") " != *" --all "*--share* ]]
  [[ " $(fish_offers "tally stat -- tally tra") " == *" trace "* ]]      # tally's own, as a command's
  [[ " $(fish_offers "tally stat -e cpu_clock tally tra") " == *" trace "* ]]
  [[ " $(fish_offers "tally stat -- tally --dura") " != *--duration* ]]
}

@test "fish offers every verb, and each of its options with what it does" {
  command -v fish >/dev/null || skip "no fish"
  export HOME=$PWD XDG_CONFIG_HOME=$PWD XDG_DATA_HOME=$PWD
  for verb in $("$TALLY" help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    fish -N -c "source $SHELLS/fish; complete -C 'tally $verb --'" >offered
    for option in $("$TALLY" "$verb" -h | sed -n '/^Options:/,/^$/s/^  \(-[a-zA-Z], \|    \)--\([-a-z0-9.]*\).*/\2/p'); do
      grep -qE -- "^--${option//./[.]}=?	[^ ]" offered || { echo "$verb --$option"; return 1; }
    done
  done
}

# ---- the verb --------------------------------------------------------------------------------------------------

@test "completion has help, and names what is wrong" {
  for word in -h --help; do
    run "$TALLY" completion $word
    [ "$status" -eq 0 ]
    has "usage: tally completion bash|zsh|fish"
  done
  run "$TALLY" help completion
  [ "$status" -eq 0 ]
  run "$TALLY" completion
  said 2 "tally: no shell given (expected bash, zsh or fish)
tally: 'tally completion -h' shows how to use the script"
  run "$TALLY" completion fihs
  said 2 "tally: unknown shell 'fihs'; did you mean 'fish'?"
  run "$TALLY" completion tcsh
  said 2 "tally: unknown shell 'tcsh' (expected bash, zsh or fish)"
}

@test "completion prints the script that is installed" {
  for shell in bash zsh fish; do "$TALLY" completion $shell | cmp - "$BATS_TEST_DIRNAME/../src/cmd/completion.$shell"; done
}

@test "complete offers what may stand in place of the last word, and is no verb that help tells of" {
  run "$TALLY" complete "" tally set --on kunpeng hisi_ptt0_2/qos_tx_c
  said 0 $'hisi_ptt0_2/qos_tx_cpl=\t'
  run "$TALLY" complete "" tally stat -ecpu_cycles,page_faul
  said 0 $'-ecpu_cycles,page_faults\t'
  run "$TALLY" complete "" tally list machines p
  said 0 $'power\t'                                                       # and not the kinds probes and ptt
  run "$TALLY" complete "" tally report -ox
  said 0 $':files\t-o'
  run "$TALLY" complete "" tally stat -e cpu_clock ls -
  said 0 $':command\t4'
  run "$TALLY" complete "" tally no-such-verb -
  said 0 ""
  run "$TALLY" complete "" tally stat --on "unix:$PWD/nobody" -e x
  said 0 ""
  run "$TALLY" complete ""
  said 2 "tally: complete is called by the scripts of 'tally completion', as: BEHIND WORD..."
  ! "$TALLY" help | grep -qw complete || return 1
}
