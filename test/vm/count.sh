# count.sh - what `tally stat` counts of hardware; read by guest.sh, in the guest.
#
# `count` counts the same by bare perf_event_open.  Here time follows instructions, so the same command costs the same each time.

figure() { awk -F , -v n="$1" -v c="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["name"] == n { v = $at[c] } END { print v }' /tmp/t.csv; }

# The kernel alone is some milliseconds, and a timer's tick more or less is a percent of them.
for mode in :u :k ''; do
  percent=1
  [ "$mode" != :k ] || percent=5
  tally stat -x , -o /tmp/t.csv -e "cycles$mode,instructions$mode" -- spin -k 1000 10000000 2>/tmp/why
  said=$(count "cycles$mode" "instructions$mode" -- spin -k 1000 10000000)
  for event in cycles instructions; do
    ours=$(figure "$event$mode" value) theirs=$(value "$event$mode" "$said")
    within "${ours:-0}" "${theirs:-0}" $percent
    check $? "$event$mode of a command are those that perf_event_open counts: ${ours:-none}, $theirs" "$(cat /tmp/t.csv /tmp/why)"
  done
done
tally stat -x , -o /tmp/t.csv -e instructions:u -- spin 10000000
[ "$(figure instructions:u value)" -gt 30000000 ] && [ "$(figure instructions:u share)" = 1 ]
check $? "a loop of 10,000,000 has its instructions, counted all the time: $(figure instructions:u value)" "$(cat /tmp/t.csv)"

tally stat -x , -o /tmp/t.csv -e instructions:u -- sh -c 'spin 10000000 & spin 10000000; wait'
[ "$(figure instructions:u value)" -gt 60000000 ]
check $? "children count, too: $(figure instructions:u value)" "$(cat /tmp/t.csv)"

tally stat -e cycles,instructions -- spin 10000000 2>/tmp/said
grep -q ' insn/cycle' /tmp/said
check $? "instructions per cycle stand beside them" "$(cat /tmp/said)"

# Raw cycles (0x11), as often as counters are too few for.
many=r11:u,r11:u,r11:u,r11:u,r11:u,r11:u,r11:u,r11:u,r11:u,r11:u
tally stat -e $many -- touch /tmp/ran 2>/tmp/said
[ $? -eq 1 ] && [ ! -e /tmp/ran ] && grep -q '10 events need a hardware counter each' /tmp/said && grep -q -- --share /tmp/said
check $? "events that do not all fit are refused whole, and the command does not run" "$(cat /tmp/said)"
tally stat -a -e $many --duration 100 >/tmp/rows 2>/tmp/said
[ $? -eq 1 ] && [ ! -s /tmp/rows ] && grep -q -- --share /tmp/said
check $? "so they are of whole CPUs" "$(cat /tmp/rows /tmp/said)"
tally stat --share -x , -o /tmp/t.csv -e $many -- spin 100000000 2>/tmp/said
share=$(awk -F , 'NR > 1 { n += $12 } END { printf "%.2f", n }' /tmp/t.csv)
awk -v s="$share" 'BEGIN { exit !(s > 2 && s < 9.5) }'
check $? "with --share they take turns: their shares are $share of 10" "$(cat /tmp/t.csv /tmp/said)"
once=$(count cycles:u -- spin 100000000) once=$(value cycles:u "$once") wrong=0
for v in $(awk -F , 'NR > 1 { print $4 }' /tmp/t.csv); do within "$v" "$once" 25 || wrong=$((wrong + 1)); done
[ "$once" -gt 0 ] && [ $wrong -eq 0 ]
check $? "and are scaled up to what they would have counted" "$once: $(cat /tmp/t.csv)"
