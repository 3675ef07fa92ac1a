#!/bin/bash
# transcript.sh [-s] [-t SECONDS] [-w] FILE - runs the commands of a page, in order and from the current directory on, and
# holds what they print against what the page says.
#
# -s: only the status is held against the page.  -t: how long a command may take (60).  -w: writes what the commands print into
# the page instead.
#
# Commands stand in blocks ```console, behind `$ ` and with what they print; and in blocks ```sh, without.  A command ends with
# status 0.  A line "..." on the page stands for any lines.  What a command makes of PATH holds for those that follow.
# One that ends in & goes on in the background until the end of the page; the next waits for its socket, X.sock or 127.0.0.1:PORT.
#
# What stands behind `console` or `sh` says what else to expect:
#   3          that status                       live   status 0, any output: it differs from run to run
#   bpf        D programs that run in the kernel, and as live      pmu    hardware counters, and as live
#   fuse       files may be mounted              ptt    a HiSilicon PTT device       power    Linux on POWER, with hv_gpci
#   duckdb     DuckDB's library                  duckdb-cli clickhouse               that program
#   system     it changes users and programs of this machine: only its syntax is checked
#   source     the source tree                package    Debian's packages, and no source tree
#   http       libmicrohttpd and curl         prometheus  Prometheus, with promtool
#   guest      a kernel for a guest, and a QEMU newer than Debian 12 has: `make check-vm` runs it
#
# Where a need is not met, all else of the command is checked: its syntax; for hardware that it is refused for that reason
# and no other, and that the same is accepted on a model, or of an event that every machine has.
# Exit 1: something differs, which is shown.
set -u
export COLUMNS=80 # a page is a terminal of that width
write= status_only= limit=60
while getopts st:w o; do case $o in s) status_only=1 ;; t) limit=$OPTARG ;; w) write=1 ;; *) exit 2 ;; esac; done
shift $((OPTIND - 1))
page=$1 bad=0 kept=() started=() unmet=
work=$(mktemp -d)
finish() {
  for p in "${started[@]}"; do kill "$p" 2>/dev/null; done
  wait "${started[@]}" # what they write at their end is in the directory that goes next
  rm -rf "$work"
}
trap finish EXIT

# ---- needs --------------------------------------------------------------------------------------
pmu_is_here() { ls -d /sys/bus/event_source/devices/{hisi_ptt,hv_gpci,cpu,armv8_pmuv3}* 2>/dev/null | grep -q "/$1"; }
need_is_met() { # NEED
  local PATH=$PATH:$PWD/build
  case $1 in
  bpf) tally trace -q -n 'BEGIN { exit(0); }' >/dev/null 2>&1 ;;
  pmu) pmu_is_here cpu || pmu_is_here armv8_pmuv3 ;;
  ptt) pmu_is_here hisi_ptt ;;
  power) pmu_is_here hv_gpci ;;
  fuse) [ -w /dev/fuse ] && { [ "$(id -u)" -eq 0 ] || command -v fusermount3 >/dev/null; } ;;
  duckdb) tally doctor --json 2>/dev/null | grep -q '"DuckDB".*"verdict":"ok"' ;;
  http) ldconfig -p | grep -q libmicrohttpd.so.12 && command -v curl >/dev/null ;;
  prometheus) command -v prometheus >/dev/null && command -v promtool >/dev/null ;;
  guest | system) false ;;
  source) [ -x tools/deps.sh ] ;;
  package) [ ! -x tools/deps.sh ] && [ -d /usr/share/doc/tally/tutorial ] ;;
  duckdb-cli) command -v duckdb >/dev/null ;;
  clickhouse) command -v clickhouse >/dev/null ;;
  *) echo "$page: what is '$1', behind a block's first word?" >&2; exit 2 ;;
  esac
}
refused() { # STATUSES REASON COMMAND: as written it ends with one of the statuses, and says the reason
  local status=0
  timeout "$limit" bash -c "$3" >"$work/got" 2>&1 </dev/null || status=$?
  [[ " $1 " == *" $status "* ]] && grep -qE "$2" "$work/got" && return 0
  echo "$page: $3: status $status, or another reason than /$2/"; head -n 5 "$work/got"
  return 1
}
accepted() { # COMMAND
  timeout "$limit" bash -c "$1" >"$work/got" 2>&1 </dev/null && return 0
  echo "$page: $1: not accepted"; head -n 5 "$work/got"
  return 1
}
check_rest() { # NEED COMMAND: the need is not met
  bash -n -c "$2" || return 1
  case $1 in
  bpf) refused "3 4" '[Pp]ermi|cap_|CAP_' "$2" ;;
  ptt) refused 3 'no PTT device' "$2" && accepted "$(sed -E 's/tally (record|tune)/& --on kunpeng --duration 2/; s/tally set/& --on kunpeng/; s/ -- .*/ -- true/' <<<"$2")" ;;
  power) refused 3 'no PMU hv_gpci' "$2" && accepted "${2/--on local/--on power}" ;;
  pmu)
    refused "0 1 3 4" 'no hardware PMU|<not (supported|permitted)>|[Pp]ermi|cap_' "$2" || return 1
    # The program is right if it is so with an event that every machine has.
    [[ $2 != *cpc:::* ]] || refused "0 4" '' "$(sed -E 's/cpc:::[A-Za-z0-9_]+/cpc:::page_faults/' <<<"$2")" ;;
  duckdb) [[ $2 != tally\ export* ]] || refused 3 'DuckDB' "$2" ;;
  esac
}

# ---- one command --------------------------------------------------------------------------------
agree() { # WANT GOT: line by line; "..." takes any lines
  awk '
    function agree(i, j,   k) { # want from i on with got from j on
      while (i <= w && want[i] != "...") if (j > g || want[i++] != got[j++]) return 0
      if (i > w) return j > g
      if (i == w) return 1
      for (k = j; k <= g; k++) if (want[i + 1] == got[k] && agree(i + 1, k)) return 1
      return 0
    }
    NR == FNR { want[++w] = $0; next }
    { got[++g] = $0 }
    END { exit !agree(1, 1) }' "$1" "$2"
}
background() { # COMMAND: and waits until what it listens at is there
  local socket port
  socket=$(grep -oE '[^ ]+\.sock' <<<"$1" | head -n 1)
  port=$(grep -oE '127\.0\.0\.1:[0-9]+' <<<"$1" | head -n 1)
  bash -c "exec ${1% &}" >"$work/background" 2>&1 &
  started+=($!)
  for _ in $(seq 100); do
    [ -S "$socket" ] && return 0
    [ -n "$port" ] && (: <>"/dev/tcp/${port/://}") 2>/dev/null && return 0
    kill -0 $! 2>/dev/null || break
    sleep 0.05
  done
  cat "$work/background"
  return 1
}
run() { # NEEDS COMMAND: the output is in $work/got, or a need is not met: unmet
  local want=0 status=0 word command=$2
  unmet=
  for word in $1; do
    case $word in
    [0-9]*) want=$word ;;
    live | -) ;;
    *) need_is_met "$word" || { unmet=1; check_rest "$word" "$command"; return; } ;;
    esac
  done
  if [[ $command == *' &' ]]; then
    background "$command" >"$work/got" || status=$?
  else
    WORK=$work timeout "$limit" bash -c "trap 'printf %s \"\$PATH\" >\"\$WORK/path\"' EXIT
$command" >"$work/got" 2>&1 </dev/null || status=$?
    [ ! -s "$work/path" ] || PATH=$(cat "$work/path")
  fi
  [ $status -eq "$want" ] && return 0
  echo "$page: $command: status $status, not $want"; head -n 5 "$work/got"
  return 1
}
check() { # NEEDS COMMAND: $work/want against what comes
  run "$1" "$2" || { bad=1; return; }
  [ -z "$status_only$unmet" ] || return
  case $1 in *live* | *bpf* | *pmu* | *ptt* | *power* | *duckdb*) return ;; esac
  agree "$work/want" "$work/got" && return
  echo "$page: $2"; diff "$work/want" "$work/got" | head -n 10
  bad=1
}
finish_command() {
  [ -n "$command" ] || return
  # What stands behind two blanks and # is for the reader; root needs no sudo.
  command=$(sed -E 's/  +# .*//' <<<"$command")
  [ "$(id -u)" -ne 0 ] || command=${command#sudo }
  if [ $kind = sh ]; then
    run "$needs" "$command" || bad=1
  elif [ $write ]; then
    run "$needs" "$command" || bad=1
    case $needs in *live* | *bpf* | *pmu*) [ -s "$work/want" ] && cp "$work/want" "$work/got" ;; esac
    grep -qx '\.\.\.' "$work/want" && cp "$work/want" "$work/got"
    mapfile -t -O ${#kept[@]} kept <"$work/got"
  else
    check "$needs" "$command"
  fi
  command=
}

# ---- the page -----------------------------------------------------------------------------------
kind= needs=- command= more=
while IFS= read -r line; do
  case $kind:$line in
    ':```console'* | ':```sh' | ':```sh '*) kind=${line#'```'} kind=${kind%% *} needs=${line#'```'"$kind"} needs=${needs# } ; [ -n "$needs" ] || needs=- ;;
    console:'```'* | sh:'```'*) finish_command; kind= ;;
    console:'$ '*) finish_command; command=${line#'$ '}; : >"$work/want" ;;
    console:*) if [ $more ]; then command+=$line; else printf '%s\n' "$line" >>"$work/want"; [ $write ] && continue; fi ;;
    sh: | sh:'#'*) finish_command ;;
    sh:*) if [ $more ]; then command+=$line; else finish_command; command=$line; fi ;;
  esac
  if [[ $kind && $line == *\\ && ( $more || $kind == sh || $line == '$ '* ) ]]; then more=1 command=${command%\\}; else more=; fi
  kept+=("$line")
done <"$page"
[ $write ] && printf '%s\n' "${kept[@]}" >"$work/page" && cp "$work/page" "$page"
exit $bad
