# hotplug.sh - CPUs that go and come while `tally stat` counts whole CPUs; in a guest of two, by busybox sh.
#
# What to do next is decided by the rows that came, never by the clock.
. test/vm/tap.sh
cpu1() { echo "$1" >/sys/devices/system/cpu/cpu1/online; }
until_row() { # EVENT PATTERN: the next row of CPU 1 like that, of at most 2000; it is in $row
  tries=0
  while [ $tries -lt 2000 ] && read -r row; do
    tries=$((tries + 1))
    case $row in *,cpu=1,"$1",*) echo "$row" | grep -q "$2" && return 0 ;; esac
  done
  return 1
}
value() { echo "$row" | cut -d , -f 4; }

# type,time,delta,value,unit,id,name,selector,raw,status,...
counts='^count,[^,]*,[1-9]'
for event in cpu-clock cycles; do
  mkfifo /tmp/rows
  tally stat --per-cpu -x , -e $event -I 100 >/tmp/rows 2>/tmp/notes &
  stat=$!
  exec 3</tmp/rows
  until_row $event "$counts" <&3
  check $? "$event: a CPU is counted while it is online" "$(cat /tmp/notes)"
  cpu1 0
  until_row $event ',offline,since ' <&3
  check $? "$event: a CPU that went offline is said to be" "$row $(cat /tmp/notes)"
  grep -q 'CPU 1 went offline: its counts end at .* s' /tmp/notes
  check $? "$event: a note says when" "$(cat /tmp/notes)"
  until_row $event '^count,[^,]*,0,.*,offline,' <&3
  kept=$(value)
  [ "${kept:-0}" -gt 0 ]
  check $? "$event: it counts no more, and what it counted stays: $kept" "$row"
  cpu1 1
  until_row $event "$counts.*,ok," <&3
  [ "$(value)" -gt "${kept:-0}" ]
  check $? "$event: when it comes back it goes on from there: $(value)" "$row $(cat /tmp/notes)"
  grep -q 'CPU 1 came online: counted from .* s' /tmp/notes
  check $? "$event: and a note says so" "$(cat /tmp/notes)"
  kill $stat
  cat <&3 >/dev/null
  exec 3<&-
  wait $stat
  check $? "$event: it ends well" "$(cat /tmp/notes)"
  rm /tmp/rows
done

# Away and back between two looks.

mkfifo /tmp/rows
tally stat -a -x , -e cpu-clock -I 1000 >/tmp/rows 2>/tmp/notes &
stat=$!
exec 3</tmp/rows
read -r _ <&3; read -r _ <&3                    # the header, and the first interval
cpu1 0; cpu1 1
read -r _ <&3; read -r _ <&3
kill $stat
cat <&3 >/tmp/rest
exec 3<&-
wait $stat
grep -qE 'CPU 1 (was offline for a moment; counted again|came online: counted) from .* s' /tmp/notes
check $? "a CPU that was away for a moment only is counted again, and said" "$(cat /tmp/notes /tmp/rest)"

# One that is not there at the start.
cpu1 0
rm /tmp/rows
mkfifo /tmp/rows
tally stat --per-cpu -x , -e cpu-clock -I 100 >/tmp/rows 2>/tmp/notes &
stat=$!
exec 3</tmp/rows
read -r _ <&3; read -r row <&3
case $row in *,cpu=0,*) true ;; *) false ;; esac
check $? "a CPU that is offline has no row" "$row"
cpu1 1
until_row cpu-clock "$counts" <&3
check $? "and has one as soon as it comes" "$row $(cat /tmp/notes)"
kill $stat
cat <&3 >/dev/null
exec 3<&-
wait $stat
[ $bad -eq 0 ]
