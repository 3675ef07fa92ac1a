#!/bin/bash
# transcript.sh [-w] FILE - runs the commands of a page's ```console blocks, in order and in the current directory, and
# holds what they print against what the page says.  -w: writes what they print into the page instead.
#
# A line "..." on the page stands for any lines.  What stands behind `console` says what else to expect:
#   console            this output, and status 0           console live    status 0, any output: it differs from run to run
#   console 1          this output, and that status        console bpf     as live, where D programs can run in the kernel
# A command that ends in & goes on in the background until the end of the page; the next one waits for its socket.
# Exit 1: something differs, which is shown.
set -u
write=
[ "${1:-}" = -w ] && write=1 && shift
page=$1 bad=0 kept=() started=()
work=$(mktemp -d)
finish() {
  for p in "${started[@]}"; do kill "$p" 2>/dev/null; done
  rm -rf "$work"
}
trap finish EXIT
tally trace -q -n 'BEGIN { exit(0); }' >/dev/null 2>&1 && bpf=1 || bpf=

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
  local socket
  socket=$(grep -oE '[^ ]+\.sock' <<<"$1" | head -n 1)
  bash -c "exec ${1% &}" >"$work/background" 2>&1 &
  started+=($!)
  for _ in $(seq 100); do [ -S "$socket" ] && return 0; kill -0 $! 2>/dev/null || break; sleep 0.05; done
  cat "$work/background"
  return 1
}
run() { # NEEDS COMMAND: the output is in $work/got
  local want=0 status=0
  case $1 in [0-9]*) want=$1 ;; bpf) [ $bpf ] || return 0 ;; esac
  if [[ $2 == *' &' ]]; then background "$2" >"$work/got" || status=$?
  else timeout 60 bash -c "$2" >"$work/got" 2>&1 </dev/null || status=$?; fi
  [ $status -eq "$want" ] && return 0
  echo "$page: $2: status $status, not $want"; head -n 5 "$work/got"
  return 1
}
check() { # NEEDS COMMAND: $work/want against what comes
  run "$1" "$2" || { bad=1; return; }
  case $1 in live | bpf) return ;; esac
  agree "$work/want" "$work/got" && return
  echo "$page: $2"; diff "$work/want" "$work/got" | head -n 10
  bad=1
}
finish_command() {
  [ -n "$command" ] || return
  if [ $write ]; then
    run "$needs" "$command" || bad=1
    case $needs in live | bpf) [ -s "$work/want" ] && cp "$work/want" "$work/got" ;; esac
    grep -qx '\.\.\.' "$work/want" && cp "$work/want" "$work/got"
    mapfile -t -O ${#kept[@]} kept <"$work/got"
  else
    check "$needs" "$command"
  fi
  command=
}

inside= needs=- command= more=
while IFS= read -r line; do
  case $inside$line in
    '```console'*) inside=1 needs=${line#'```console'} needs=${needs# } ; [ -n "$needs" ] || needs=- ;;
    1'```'*) finish_command; inside= ;;
    1'$ '*) finish_command; command=${line#'$ '}; : >"$work/want" ;;
    1*) if [ $more ]; then command+=$line; else printf '%s\n' "$line" >>"$work/want"; [ $write ] && continue; fi ;;
  esac
  [[ $inside && $line == *\\ && ( $more || $line == '$ '* ) ]] && more=1 command=${command%\\} || more=
  kept+=("$line")
done <"$page"
[ $write ] && printf '%s\n' "${kept[@]}" >"$work/page" && cp "$work/page" "$page"
exit $bad
