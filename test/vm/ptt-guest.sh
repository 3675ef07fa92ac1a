# ptt-guest.sh - what is checked of the genuine hisi_ptt driver inside ptt.sh's guest, by busybox sh; speaks TAP.
#
# Expected is what the driver's own source does; where the specification says otherwise (an empty port mask, 8DW
# without a direction, several outbound types) it is the driver that is seen here: `--profile driver`.
#
# An emulated CPU starts programs slowly: files are read by `read`, many events are asked for by one ptt-open.
pmu=hisi_ptt0_2 tree=/sys/bus/event_source/devices/hisi_ptt0_2 pci=0000:00:1e.0
. ./tap.sh
part() { read -r now _ </proc/uptime; echo "# ---- $* (${now} s)"; }
run() { # COMMAND...: shown with what it said; its status
  echo "# \$ $*"
  timeout 120 "$@" >/tmp/said 2>&1
  status=$?
  sed '/^ *$/d; s/^/#   /' /tmp/said
  return $status
}
settle() { # COMMAND...: true within five seconds
  tries=50
  until "$@"; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || return 1
    usleep 50000
  done
}
values() { # FOLDER: "name=content ..." of its files
  (cd "$1" && for f in *; do read -r v <"$f"; printf '%s=%s ' "$f" "$v"; done)
}

echo "# $(uname -srm), $(perf --version), $(grep -c ^processor /proc/cpuinfo) CPUs"

part "probe"
run insmod hisi_ptt.ko
is "the module loads" $? 0
dmesg | grep ' hisi_ptt' | sed 's/^/# /'
[ -e /sys/bus/pci/drivers/hisi_ptt/$pci ]
check $? "the driver has bound to $pci" "$(cat /sys/bus/pci/devices/*/modalias)"
[ -d $tree ]
check $? "the PMU registers as $pmu" "$(ls /sys/bus/event_source/devices)"
[ -d $tree ] || exit 1
is "its PCI identity" "$(cd /sys/bus/pci/devices/$pci && cat vendor device class | xargs)" "0x19e5 0xa12e 0x118000"
grep -q hisi_ptt /proc/interrupts
check $? "it has an interrupt, an MSI" "$(cat /proc/interrupts)"
is "cpumask" "$(cat $tree/cpumask)" 0-1
is "modes of type, cpumask, format, tune and filters" "$(cd $tree && stat -c %a type cpumask format/* tune/* \
  root_port_filters/* requester_filters/* | sort | uniq -c | xargs)" "6 400 6 444 5 600"
is "formats" "$(values $tree/format)" \
  "direction=config:20-23 filter=config:0-19 format=config:32-35 type=config:24-31 "
is "root port filters" "$(values $tree/root_port_filters)" "0000:00:10.0=0x80001 0000:00:11.0=0x80004 multiselect=1 "
is "requester filters" "$(values $tree/requester_filters)" "0000:01:00.0=0x00100 0000:02:00.0=0x00200 multiselect=0 "
is "tunables" "$(ls $tree/tune | xargs)" "qos_tx_cpl qos_tx_np qos_tx_p rx_alloc_buf_level tx_alloc_buf_level"

part "tune"
for row in qos_tx_cpl:1 qos_tx_np:1 qos_tx_p:1 rx_alloc_buf_level:0 tx_alloc_buf_level:2; do
  name=${row%:*} reset=${row#*:}
  file=$tree/tune/$name
  read -r got <$file
  is "$name after reset" "$got" "$reset"
  for pair in 0:0 1:1 2:2 3:2 65535:2; do
    echo ${pair%:*} >$file
    read -r got <$file
    is "$name, ${pair%:*} written, reads" "$got" "${pair#*:}"
  done
  echo 1 >$file
  for wrong in -1 70000 0x1 x; do
    case $( (echo "$wrong" >$file) 2>&1) in *'Invalid argument'*) said=EINVAL ;; *) said=nothing ;; esac
    read -r got <$file
    is "$name, $wrong written, says, and reads" "$said $got" "EINVAL 1"
  done
  echo "$reset" >$file
done

part "verdicts on events"
verdicts() { # of the rows "WANT FORMAT TYPE DIRECTION FILTER", all digits hexadecimal as config has them
  configs=
  while read -r want format type direction filter; do configs="$configs $format$type$direction$filter"; done </tmp/rows
  ptt-open open $pmu $configs >/tmp/got
  exec 3</tmp/got
  while read -r want format type direction filter; do
    read -r got <&3
    is "filter=0x$filter,type=0x$type,direction=$direction,format=$format" "$got" "$want"
  done </tmp/rows
  exec 3<&-
}
rows() {
  for filter in 80001 80004 80005 80000 f0001 00100 00200; do echo ok 0 01 0 $filter; done
  for filter in 80002 80003 80010 00900 00101; do echo EINVAL 0 01 0 $filter; done
  for type in 00 08 10 09 80; do echo EINVAL 0 $type 0 80001; done
  for type in 01 02 03 04 05 06 07; do
    for direction in 0 1 2 3; do echo ok 0 $type $direction 80001; done
  done
  for direction in 4 8 f; do echo EINVAL 0 01 $direction 80001; done
  for direction in 0 1 2 3; do echo ok 1 01 $direction 80001; done
  for format in 2 f; do echo EINVAL $format 01 0 80001; done
  echo ok 100 01 0 80001                        # bits from 40 are ignored
}
rows >/tmp/rows
verdicts
is "per task" "$(ptt-open task $pmu 01080001)" EOPNOTSUPP
is "a second event" "$(ptt-open second $pmu 01080001 01080004)" EBUSY
is "AUX rings of 4, 8, 16 and 32 MiB" "$(ptt-open map $pmu 01080001 4 8 16 32 | xargs)" "ENOMEM ENOMEM ok ok"
run perf record -o /tmp/x.data -a -C 0 -e $pmu/filter=0x80002,type=1,direction=0,format=0/ -- true
[ $? -ne 0 ] && grep -q 'Invalid argument' /tmp/said
check $? "perf record refuses a root port that is not there" "$(cat /tmp/said)"
run perf stat -a -C 0 -e $pmu/filter=0x80001,type=1,direction=0,format=0/ -- true
check $? "perf stat takes a good event" "$(cat /tmp/said)"

part "traces"
spare="-B -N --no-bpf-event"                    # what perf adds about programs takes five seconds here
interrupts() { awk '/hisi_ptt/ { for (i = 2; i <= NF && $i ~ /^[0-9]+$/; i++) n += $i } END { print n + 0 }' /proc/interrupts; }
trace() { # NAME EVENT COMMAND...: /out/NAME.data; $took: interrupts
  name=$1 event=$2
  shift 2
  took=$(interrupts)
  run perf record $spare -o /out/$name.data -a -C 0 -m 512,32M -e $pmu/$event/ -- "$@"
  check $? "perf record -e $pmu/$event/" "$(cat /tmp/said)"
  took=$(($(interrupts) - took))
  echo "# $name.data: $(stat -c %s /out/$name.data 2>/dev/null) bytes, $took interrupts"
}
trace ring filter=0x80001,type=7,direction=2,format=0 sleep "${PTT_SECONDS:-9}"
[ $took -gt 4 ]
check $? "the trace went round the ring of four buffers: $took finished"
trace wide filter=0x80004,type=7,direction=2,format=1 sleep 1
trace drive filter=0x00100,type=7,direction=2,format=0 sleep 1
trace outbound filter=0x80001,type=1,direction=1,format=0 sleep 1
trace short filter=0x80001,type=7,direction=2,format=1 usleep 50000
# perf would take a minute for all of it.
perf report -D -i /out/short.data 2>/tmp/said | grep -E '^\. \.\.\. HISI|^\.  [0-9a-f]{8}: ' |
  head -n 9000 >/out/short.text
[ "$(wc -l </out/short.text)" -eq 9000 ]
check $? "perf report -D reads it" "$(cat /tmp/said)"

part "tally on this driver"
run tally list ptt
is "tally list ptt" $? 0
listed=1
for word in $pmu 0000:00:10.0 0x80001 0000:00:11.0 0x80004 0000:01:00.0 0x00100 qos_tx_cpl tx_alloc_buf_level; do
  grep -q "$word" /tmp/said || { listed=0; echo "# not there: $word"; }
done
is "it has device, filters and tunables" $listed 1
run tally get $pmu/qos_tx_p $pmu/rx_alloc_buf_level
is "tally get" $? 0
for pair in 2:2 7:2 1:1; do
  run tally set $pmu/qos_tx_p=${pair%:*}
  read -r got <$tree/tune/qos_tx_p
  is "tally set qos_tx_p=${pair%:*}: sysfs reads" "$got" "${pair#*:}"
done
run tally set $pmu/qos_tx_p=-1
[ $? -ne 0 ]
check $? "tally set refuses -1" "$(cat /tmp/said)"
took=$(interrupts)
run tally record -e $pmu/filter=0x80001,type=7,direction=2,format=0/ -o /out/tally.data -- sleep "${PTT_SECONDS:-9}"
is "tally record" $? 0
took=$(($(interrupts) - took))
[ $took -gt 4 ]
check $? "it went round the ring of four buffers: $took finished" "$(cat /tmp/said)"
run tally record -m 32M -e $pmu/filter=0000:01:00.0,type=p+np+cpl,direction=2,format=8dw/ -o /out/named.data -- sleep 1
is "tally record with names and 8DW" $? 0
# The reader stands still for longer than the ring lasts: the driver falls asleep and must be woken.
tally record -e $pmu/filter=0x80001,type=7,direction=2,format=0/ -o /out/slow.data >/tmp/slow 2>&1 &
recorder=$!
sleep 1
kill -STOP $recorder
sleep 7
before=$(stat -c %s /out/slow.data)
run tally record -e $pmu/filter=0x80001,type=1,direction=1,format=0/ -o /tmp/x.data -- true
[ $? -ne 0 ] && grep -q 'is taken' /tmp/said
check $? "a second trace is refused" "$(cat /tmp/said)"
kill -CONT $recorder
tries=0                                # what the ring held comes at once, what was recorded since as fast as this host lets it
while [ $tries -lt 100 ] && [ "$(stat -c %s /out/slow.data)" -le $((before + 20 * 1048576)) ]; do
  sleep 1
  tries=$((tries + 1))
done
kill -TERM $recorder              # the shell has made it deaf to SIGINT
wait $recorder
is "tally record that was held up for 7 s" $? 0
sed 's/^/#   /' /tmp/slow
after=$(stat -c %s /out/slow.data)
[ "$after" -gt $((before + 20 * 1048576)) ]
check $? "it went on after the ring was full: $before bytes before, $after after"
grep -q '[0-9] gap' /tmp/slow
check $? "and says that there is a gap" "$(cat /tmp/slow)"

part "an endpoint goes and comes"
filter=$tree/requester_filters/0000:02:00.0
gone() { [ ! -e $filter ]; }
echo 1 >/sys/bus/pci/devices/0000:02:00.0/remove
settle gone
check $? "an endpoint is removed: its filter goes" "$(ls $tree/requester_filters)"
is "an event with that filter" "$(ptt-open open $pmu 01000200)" EINVAL
echo 1 >/sys/bus/pci/rescan
settle test -e $filter
check $? "a rescan finds it: its filter is back" "$(ls $tree/requester_filters)"
is "the filter's value" "$(cat $filter)" 0x00200
is "an event with that filter" "$(ptt-open open $pmu 01000200)" ok

part "the module goes and comes"
run rmmod hisi_ptt
is "the module unloads" $? 0
[ ! -e $tree ]
check $? "and its PMU with it"
run insmod hisi_ptt.ko
is "it loads again" $? 0
[ -d $tree ]
check $? "and the PMU is back"
trace again filter=0x80001,type=7,direction=2,format=0 sleep 1

! dmesg | grep -qE 'Oops|BUG:|WARNING:|Call trace'
check $? "the kernel has nothing to complain of" "$(dmesg | grep -A20 -E 'Oops|BUG:|WARNING:|Call trace')"
part "done"
[ $bad -eq 0 ]
