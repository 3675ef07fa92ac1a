# lease.sh - who gets the hardware counters when two processes want them; read by guest.sh, in the guest.
#
# Each rule of dtrace_cpc.txt ("Co-existence with existing tools") with two processes. The first of the two tells through a
# pipe that it has begun, so nothing here waits for a time to pass but for intervals of counting that are long enough.

d_begins() { # -> $holder: a D session that holds a counter until it is killed
  mkfifo /tmp/began
  tally trace -q -n 'BEGIN { printf("began\n"); } cpc:::cycles-user-100000000 { }' >/tmp/began 2>/tmp/d.why &
  holder=$!
  read -r _ </tmp/began
  rm -f /tmp/began
}
stat_begins() { # EVENT OPTION...: counting that goes on until it is killed; its rows are in /tmp/rows
  local event=$1
  shift
  mkfifo /tmp/began
  tally stat -e "$event" -I 100 "$@" 2>/tmp/stat.why | { read -r line; echo "$line" >/tmp/began; { echo "$line"; cat; } >/tmp/rows; } &
  read -r _ </tmp/began
  rm -f /tmp/began
  holder=$(pidof_verb stat)
}
pidof_verb() { # VERB: the youngest tally that runs it
  for p in $(pidof tally); do tr '\0' ' ' <"/proc/$p/cmdline" | grep -q "tally $1 " && echo "$p" && return; done
}
ends() { # [SIGNAL]: of the holder, and waits for it
  kill "-${1:-TERM}" "$holder"
  wait "$holder" 2>/dev/null
  while [ -d "/proc/$holder" ]; do :; done
}
refused() { # COMMAND...: with status 1, and the words name the holder
  "$@" >/tmp/said 2>&1
  [ $? -eq 1 ] && grep -q "process $holder, tally" /tmp/said
}
doctor_names() { # WORDS: what the doctor says of the holder, in text and to programs; and that it is in the way
  tally doctor >/tmp/said; tally doctor --json >>/tmp/said
  tr -s ' \n' ' ' </tmp/said | grep -q "limited hardware counters $1 (process $holder, tally $2" &&
    grep '"key":"lease"' /tmp/said | grep -q "\"verdict\":\"limited\".*\"found\":\"$1 (process $holder, tally $2"
}
doctor_names_nobody() {
  tally doctor --json >/tmp/said
  grep '"key":"lease"' /tmp/said | grep -q '"verdict":"ok","cause":"ok","found":"free"'
}
whole() { tally stat -a --duration 200 "$@"; }
counted() { awk -v e="$1" '{ for (i = 1; i <= NF; i++) if ($i == e) { gsub(",", ""); for (j = 1; j <= NF; j++) if ($j ~ /^[0-9]+$/ && $j > 0) ok = 1 } } END { exit !ok }'; }

d_begins
refused whole -e cycles
check $? "while D probes count, whole CPUs are refused, and the holder is named" "$(cat /tmp/said)"
whole -e page-faults >/tmp/said 2>&1
check $? "software events need no lease" "$(cat /tmp/said)"
whole -e cycles --share >/tmp/said 2>&1 && counted cycles </tmp/said
check $? "--share counts all the same" "$(cat /tmp/said)"
tally trace -q -n 'cpc:::cycles-kernel-100000000 { } tick-1ms { exit(0); }' >/tmp/said 2>&1
check $? "D sessions share what fits" "$(cat /tmp/said)"
refused tally stat -e cycles -- spin 1000000
check $? "counting of a process is refused while D probes count, and the holder is named" "$(cat /tmp/said)"
doctor_names 'a D session' 'trace -q -n'
check $? "the doctor names a D session that holds counters: its process and command" "$(cat /tmp/said)"
ends KILL
doctor_names_nobody
check $? "and nobody once it was killed" "$(cat /tmp/said)"
whole -e cycles >/tmp/said 2>&1 && counted cycles </tmp/said
check $? "a lease dies with its holder, after kill -9 too" "$(cat /tmp/said)"

stat_begins cycles -a
refused tally trace -q -n 'cpc:::cycles-user-100000000 { } tick-1ms { exit(0); }'
check $? "while whole CPUs are counted, D probes are refused, and the holder is named" "$(cat /tmp/said)"
refused whole -e instructions
check $? "only one counts whole CPUs at a time" "$(cat /tmp/said)"
refused tally stat -e cycles -- spin 1000000
check $? "so is counting of a process" "$(cat /tmp/said)"
tally trace -q --share -n 'cpc:::cycles-user-100000000 { } tick-1ms { exit(0); }' >/tmp/said 2>&1
check $? "D with --share takes what is left" "$(cat /tmp/said)"
doctor_names 'counting of whole CPUs' 'stat -e cycles -I 100 -a'
check $? "the doctor names who counts whole CPUs" "$(cat /tmp/said)"
ends KILL
doctor_names_nobody
check $? "and nobody once that was killed" "$(cat /tmp/said)"

spin 2000000000 &
spinning=$!
stat_begins cycles,page-faults -p $spinning
d_begins
tally stat -e page-faults -a --duration 300 >/dev/null 2>&1 # some intervals of the other pass
ends
holder=$(pidof_verb stat)
tally stat -e page-faults -a --duration 300 >/dev/null 2>&1
ends
kill $spinning
grep cycles /tmp/rows | grep -q 'invalidated.*from .* to '
check $? "when D begins, counting of a process is told from when to when it lost its counters" "$(cat /tmp/rows /tmp/stat.why)"
grep -v invalidated /tmp/rows | counted cycles
check $? "what was counted before stays" "$(cat /tmp/rows)"
grep cycles /tmp/rows | tail -n 2 | head -n 1 | grep -vq invalidated
check $? "its counters come back when D ends" "$(cat /tmp/rows)"
! grep page-faults /tmp/rows | grep -q invalidated
check $? "its software events go on" "$(cat /tmp/rows)"

most=r11,r11,r11,r11,r11,r11,r11,r11,r11,r11
whole -e $most >/tmp/said 2>&1
[ $? -eq 1 ] && grep -q -- --share /tmp/said && ! counted cycles </tmp/said
check $? "a set that does not fit is refused whole, and the words name --share" "$(cat /tmp/said)"
