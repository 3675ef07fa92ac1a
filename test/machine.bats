#!/usr/bin/env bats
# A model for outside clients: each interface opened, used by its clients, and what is left behind.
bats_require_minimum_version 1.5.0
load common

EVENT=hisi_ptt0_2/filter=0x80001,type=7,direction=2/

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }
teardown() {
  local job
  for job in $(jobs -p); do kill -9 "$job" 2>/dev/null || ! kill -0 "$job" 2>/dev/null; done # it may have ended
  wait
  for _ in $(seq 100); do mounted || return 0; sleep 0.02; done
  umount -l "$BATS_TEST_TMPDIR/d" 2>/dev/null || fusermount3 -u -z "$BATS_TEST_TMPDIR/d"
}
mounted() { grep -q " $BATS_TEST_TMPDIR/d " /proc/mounts; }

# begin N ARGUMENTS...: runs a machine until it has said that N interfaces are open.
begin() {
  : >said                                         # what the one before said must not count
  env --default-signal=INT "$TALLY" machine "${@:2}" >said 2>&1 3>&- &        # a shell's background has it ignored
  machine=$!
  for _ in $(seq 200); do
    [ "$(grep -cE 'waits for|listens|are in' said)" -eq "$1" ] && return
    kill -0 $machine 2>/dev/null || break
    sleep 0.02
  done
  cat said
  return 1
}

# end SIGNAL: ends it so; its status must be 0, and it must be soon.
end() {
  kill "-$1" "$machine"
  status=0
  wait "$machine" || status=$?
  machine=
  [ "$status" -eq 0 ] || { echo "status $status: $(cat said)"; return 1; }
}
killed() { ends_with 137 "$machine" kill -9 "$machine"; machine=; }

# refused STATUS TEXT ARGUMENTS...: the machine ends at once with that status; the first line has that in it.
refused() {
  run --separate-stderr timeout 20 "$TALLY" machine "${@:3}"
  [ "$status" -eq "$1" ] && [[ "${stderr_lines[0]}" == "tally: "*"$2"* ]] || { echo "${*:3}: status $status, not $1: $stderr"; return 1; }
}

records() { "$TALLY" report --json "$1" 2>/dev/null | sed -n 's/.*"type":"summary".*"records":\([0-9]*\).*/\1/p'; }

# A command with a machine at s that stops answering when the file `ready` has something: it is told to end, and does so in much
# less than the time that one answer may take.
leaves_a_silent_machine() {
  : >left
  env --default-signal=INT "$@" >left 2>&1 3>&- &
  client=$!
  for _ in $(seq 400); do [ -s ready ] && break; sleep 0.02; done
  [ -s ready ] || { cat left; return 1; }
  kill -STOP $machine
  sleep 0.3                                       # it is in the middle of a question, as a rule
  kill -TERM $client
  for _ in $(seq 160); do kill -0 $client 2>/dev/null || break; sleep 0.05; done
  if kill -0 $client 2>/dev/null; then kill -9 $client; kill -CONT $machine; cat left; return 1; fi
  kill -CONT $machine
  grep -q 'answer\|cannot restore' left || { cat left; return 1; }
}

# ---- --listen ----------------------------------------------------------------------------------------

@test "the local protocol lists, sets, gets and records, for several clients at once" {
  begin 1 kunpeng,seed=3 --listen s
  [ "$(stat -c %a s)" = 600 ]
  "$TALLY" list --on unix:s ptt | grep -q '0000:00:10.0 *filter=0x80001'
  "$TALLY" set --on unix:s hisi_ptt0_2/qos_tx_cpl=2
  "$TALLY" record --on unix:s -e "$EVENT" -o a.data -- sleep 1 2>a.said 3>&- &
  first=$!
  "$TALLY" record --on unix:s -e hisi_ptt0_0/filter=0x80001,type=7,direction=2/ -o b.data -- sleep 0.5 2>b.said 3>&- &
  second=$!
  [ "$("$TALLY" get --on unix:s hisi_ptt0_2/qos_tx_cpl)" = hisi_ptt0_2/qos_tx_cpl=2 ]
  "$TALLY" set --on unix:s hisi_ptt0_2/qos_tx_np=0
  wait $first || { cat a.said; return 1; }
  wait $second || { cat b.said; return 1; }
  [ "$(records a.data)" -gt 0 ]
  [ "$(records b.data)" -gt 0 ]
  [ "$("$TALLY" get --on unix:s hisi_ptt0_2/qos_tx_np)" = hisi_ptt0_2/qos_tx_np=0 ]
  end TERM
  [ "$(grep -c 'hisi_ptt0_[02]: a trace ended: [0-9]* packets seen' said)" -eq 2 ]
  [ ! -e s ]
}

@test "a client that starts trace after trace does not fill the machine's log" {
  begin 1 kunpeng,load=idle --listen s
  for _ in $(seq 60); do "$TALLY" record --on unix:s -e "$EVENT" -o - --duration 1 2>/dev/null >/dev/null; done
  end TERM
  [ "$(grep -c 'a trace ended' said)" -lt 60 ]
  [ "$(awk '/: a trace ended: / { n++ } / more traces? ended / { n += $2 } END { print n }' said)" -eq 60 ]
}

# The guest starts and stops traces faster than the machine takes turns, which sees some of them.
@test "a vfio-user guest that sends bad messages and starts trace after trace does not fill the host's log" {
  begin 1 kunpeng --vfio-user v
  SECONDS=0
  for _ in $(seq 50); do
    timeout 20 "$PROGS/vfioloop" v 1000
    [ "$(grep -c ': a trace ended: ' said)" -lt 20 ] || break
  done
  timeout 20 "$PROGS/vfioloop" v 3000
  end TERM
  [ "$(grep -c ': a trace ended: ' said)" -le $((20 * (1 + SECONDS / 10))) ] || { wc -l said; return 1; }
  grep -qE ': [1-9][0-9]* more traces? ended within 10 s: ' said || { tail -3 said; return 1; }
  [ "$(grep -vcE 'a trace ended|more traces? ended|waits for' said)" -eq 0 ]
}

@test "a second trace of a device is refused, and the first one goes on" {
  begin 1 kunpeng --listen s
  "$TALLY" record --on unix:s -e "$EVENT" -o a.data -- sleep 1000 2>a.said 3>&- &
  first=$!
  for _ in $(seq 200); do [ -s a.data ] && break; sleep 0.02; done
  run "$TALLY" record --on unix:s -e "$EVENT" -o b.data -- true
  [ "$status" -eq 1 ]
  has "another client's trace is running"
  kill $first
  wait $first
  [ "$(records a.data)" -gt 0 ]
  "$TALLY" record --on unix:s -e "$EVENT" -o b.data -- sleep 0.2 2>/dev/null
  [ "$(records b.data)" -gt 0 ]
  end TERM
}

@test "the machine's time does not run ahead of the clock" {
  begin 1 kunpeng,load=nvme --listen s
  before=$(date +%s%N)
  "$TALLY" record --on unix:s -e "$EVENT" -o t.data --duration 500 2>/dev/null
  [ $(($(date +%s%N) - before)) -ge 480000000 ]
  [ "$(records t.data)" -gt 0 ]
  end INT
}

@test "a machine that stops answering does not hold who records or tunes there" {
  begin 1 kunpeng --listen s
  ln -s a.data ready
  leaves_a_silent_machine "$TALLY" record --on unix:s -e "$EVENT" -o a.data -- sleep 1000
  grep -q "the end is missing" left
  rm ready
  printf '#!/bin/sh\necho >>ready; exec sleep 0.05\n' >command && chmod +x command
  leaves_a_silent_machine "$TALLY" tune hisi_ptt0_2 --for throughput --on unix:s -- ./command
  end TERM
}

@test "a machine that stops answering does not hold who counts or traces there, and what was not put back is told" {
  begin 1 batoka --listen s
  ln -s left ready
  leaves_a_silent_machine "$TALLY" stat --on unix:s -I 20 -e vfalls/zam0_lpu_a,event=clock_cycles/
  grep -q 'cannot restore .* setting.* of its counters' left
  leaves_a_silent_machine "$TALLY" trace --on unix:s -n 'vfalls:::Idle_strands-20ms { trace(arg0); }'
  end TERM
}

@test "signals end it, and nothing is left" {
  for signal in INT TERM HUP; do
    begin 2 kunpeng --listen s --vfio-user v
    [ -S s ] && [ -S v ]
    end $signal
    [ ! -e s ] && [ ! -e v ]
  done
}

@test "a client that records hears that the machine has gone, and keeps its file" {
  begin 1 kunpeng --listen s
  "$TALLY" record --on unix:s -e "$EVENT" -m 4M -o a.data -- sleep 1000 2>a.said 3>&- &
  client=$!
  for _ in $(seq 400); do [ "$(stat -c %s a.data 2>/dev/null || echo 0)" -gt 4194304 ] && break; sleep 0.02; done
  killed
  status=0
  wait $client || status=$?
  [ "$status" -eq 1 ] || { echo "status $status"; cat a.said; return 1; }
  [ "$(records a.data)" -gt 0 ]
}

@test "kill -9 leaves sockets that the next machine replaces, and a live one's are left alone" {
  begin 2 kunpeng --listen s --vfio-user v
  killed
  [ -S s ] && [ -S v ]
  begin 2 kunpeng --listen s --vfio-user v
  refused 1 "s is in use by another server" kunpeng --listen s
  refused 1 "v is in use by another server" kunpeng --vfio-user v
  "$TALLY" list --on unix:s ptt >/dev/null
  end TERM
  echo mine >file
  refused 1 "file exists and is not a socket" kunpeng --listen file
  refused 1 "file exists and is not a socket" kunpeng --vfio-user file
  [ "$(cat file)" = mine ]
}

# ---- --vfio-user -------------------------------------------------------------------------------------

@test "a device behind vfio-user is that client's: shown elsewhere, but busy" {
  begin 2 kunpeng --vfio-user v --listen s
  [ "$(stat -c %a v)" = 600 ]
  grep -qx 'tally: hisi_ptt0_2 waits for a vfio-user client at v' said
  "$TALLY" list --on unix:s ptt 2>/dev/null | grep -q '0000:00:10.0 *filter=0x80001'
  for verb in "get hisi_ptt0_2/qos_tx_p" "set hisi_ptt0_2/qos_tx_p=2" "record -e $EVENT -o t.data -- true"; do
    run "$TALLY" ${verb%% *} --on unix:s ${verb#* }
    [ "$status" -eq 1 ] || { echo "$verb: $status: $output"; return 1; }
    has "hisi_ptt0_2 is in use by a vfio-user client"
  done
  [ ! -e t.data ]
  "$TALLY" set --on unix:s hisi_ptt0_0/qos_tx_p=2
  [ "$("$TALLY" get --on unix:s hisi_ptt0_0/qos_tx_p)" = hisi_ptt0_0/qos_tx_p=2 ]
  end TERM
}

@test "--device names the other one" {
  begin 2 kunpeng --vfio-user v --device hisi_ptt0_0 --listen s
  grep -qx 'tally: hisi_ptt0_0 waits for a vfio-user client at v' said
  "$TALLY" set --on unix:s hisi_ptt0_2/qos_tx_p=2
  end TERM
}

@test "who speaks another protocol at a socket is told so or dropped, and the machine goes on" {
  begin 2 kunpeng --vfio-user v --listen s
  run timeout 20 "$TALLY" list --on unix:v ptt
  [ "$status" -eq 1 ] || { echo "$status: $output"; return 1; }
  "$TALLY" list --on unix:s ptt >/dev/null
  end TERM
}

# ---- --sysfs -----------------------------------------------------------------------------------------

@test "the devices' files have the driver's names, modes and contents" {
  needs_fuse
  mkdir d
  begin 1 kunpeng --sysfs d
  (cd d/hisi_ptt0_2 && find . -type f -printf '%m %P ' -exec cat {} \; | sort -k 2) >tree
  cat >want <<'W'
444 cpumask 0
444 format/direction config:20-23
444 format/filter config:0-19
444 format/format config:32-35
444 format/type config:24-31
644 perf_event_mux_interval_ms 4
400 requester_filters/0000:01:00.0 0x00100
400 requester_filters/0000:01:00.1 0x00101
400 requester_filters/0000:02:00.0 0x00200
400 requester_filters/0000:03:00.0 0x00300
400 requester_filters/0000:03:01.0 0x00308
400 requester_filters/0000:04:00.0 0x00400
400 requester_filters/0000:05:00.0 0x00500
400 requester_filters/multiselect 0
400 root_port_filters/0000:00:10.0 0x80001
400 root_port_filters/0000:00:11.0 0x80004
400 root_port_filters/0000:00:12.0 0x80010
400 root_port_filters/multiselect 1
600 tune/qos_tx_cpl 1
600 tune/qos_tx_np 1
600 tune/qos_tx_p 1
600 tune/rx_alloc_buf_level 0
600 tune/tx_alloc_buf_level 2
W
  LC_ALL=C sort -k 2 want | diff - <(grep -v '^444 type ' tree | LC_ALL=C sort -k 2)
  [[ "$(cat d/hisi_ptt0_2/type)" =~ ^[0-9]+$ ]]
  [ -d d/hisi_ptt0_0 ]
  end TERM
}

@test "cat and echo work on tunables, with the driver's verdicts" {
  needs_fuse
  mkdir d
  begin 2 kunpeng --sysfs d --listen s
  tune=d/hisi_ptt0_2/tune/qos_tx_cpl
  echo 2 >$tune
  [ "$(cat $tune)" = 2 ]
  [ "$("$TALLY" get --on unix:s hisi_ptt0_2/qos_tx_cpl)" = hisi_ptt0_2/qos_tx_cpl=2 ]
  "$TALLY" set --on unix:s hisi_ptt0_2/qos_tx_cpl=0
  [ "$(cat $tune)" = 0 ]
  for value in 3 65535; do
    echo 0 >$tune
    echo $value >$tune
    [ "$(cat $tune)" = 2 ]
  done
  echo 1 >$tune
  for value in 65536 -1 0x1 x '' '1 2'; do
    run bash -c "echo '$value' >$tune"
    [ "$status" -ne 0 ]
    has "Invalid argument"
    [ "$(cat $tune)" = 1 ]
  done
  run bash -c 'echo 1 >d/hisi_ptt0_2/type'
  has "Permission denied"
  run bash -c 'mkdir d/x; rm d/hisi_ptt0_2/type; mv d/hisi_ptt0_2 d/y'
  [ "$(grep -c 'Operation not permitted' <<<"$output")" -eq 3 ]
  end TERM
}

@test "tuning through files works beside a trace, and a device behind vfio-user is busy there, too" {
  needs_fuse
  mkdir d
  begin 2 kunpeng --sysfs d --listen s
  "$TALLY" record --on unix:s -e "$EVENT" -o t.data -- sleep 1000 2>t.said 3>&- &
  client=$!
  for _ in $(seq 200); do [ -s t.data ] && break; sleep 0.02; done
  for value in 0 1 2; do
    echo $value >d/hisi_ptt0_2/tune/qos_tx_p
    [ "$(cat d/hisi_ptt0_2/tune/qos_tx_p)" = $value ]
  done
  kill $client
  wait $client || { cat t.said; return 1; }
  [ "$(records t.data)" -gt 0 ]
  end TERM
  begin 2 kunpeng --sysfs d --vfio-user v
  run cat d/hisi_ptt0_2/tune/qos_tx_p
  has "Device or resource busy"
  [ "$(cat d/hisi_ptt0_2/root_port_filters/0000:00:10.0)" = 0x80001 ]
  [ "$(cat d/hisi_ptt0_0/tune/qos_tx_p)" = 1 ]
  end TERM
}

@test "what root mounts was there for root alone" {
  needs_fuse
  [ "$(id -u)" -eq 0 ] || skip "only root mounts for all users"
  command -v setpriv >/dev/null || skip "no setpriv"
  local at
  at=$(mktemp -d /tmp/tally-mount-XXXXXX)
  chmod 755 "$at"
  begin 1 kunpeng --sysfs "$at"
  run setpriv --reuid=65534 --regid=65534 --clear-groups cat "$at/hisi_ptt0_2/cpumask"
  [ "$status" -eq 0 ]
  [ "$output" = 0 ]
  run setpriv --reuid=65534 --regid=65534 --clear-groups cat "$at/hisi_ptt0_2/tune/qos_tx_cpl"
  [ "$status" -eq 1 ]
  has "Permission denied"
  end TERM
  rmdir "$at"
}

@test "the mount goes with the machine, however that ends" {
  needs_fuse
  mkdir d
  for signal in INT TERM HUP; do
    begin 1 kunpeng --sysfs d
    mounted
    end $signal
    ! mounted || return 1
  done
  begin 1 kunpeng --sysfs d
  exec 9<d/hisi_ptt0_2/type                       # and whatever is open
  end TERM
  ! mounted || return 1
  exec 9<&-
  begin 1 kunpeng --sysfs d
  killed
  for _ in $(seq 200); do mounted || break; sleep 0.02; done
  ! mounted || return 1
  rmdir d
}

@test "what goes wrong behind another interface takes the mount away as well" {
  needs_fuse
  mkdir d
  echo mine >file
  refused 1 "file exists and is not a socket" kunpeng --sysfs d --listen file
  ! mounted || return 1
}

# A tree that somebody else owns: hers/d is where the machine mounts, and she renames what is above it.
@test "a renamed parent directory does not make the machine detach another mount, however it ends" {
  [ "$(id -u)" -eq 0 ] || skip "only root mounts by itself"
  needs_fuse
  mount -t tmpfs none "$PWD" 2>/dev/null && umount "$PWD" || skip "nothing can be mounted here"
  for how in end killed; do
    mkdir -p hers/d
    begin 1 kunpeng --sysfs hers/d
    grep -q " $PWD/hers/d fuse" /proc/mounts
    mv hers moved
    mkdir -p hers/d
    mount -t tmpfs somebody-elses "$PWD/hers/d"
    if [ $how = end ]; then end TERM; else killed; fi
    for _ in $(seq 200); do grep -q " $PWD/moved/d " /proc/mounts || break; sleep 0.02; done
    others=0 ours=0
    grep -q "^somebody-elses $PWD/hers/d " /proc/mounts && others=1
    grep -q " $PWD/moved/d " /proc/mounts && ours=1
    [ $others -eq 0 ] || umount "$PWD/hers/d"
    [ $ours -eq 0 ] || umount -l "$PWD/moved/d"
    [ "$others $ours" = "1 0" ] || { echo "$how: the other's mount is there: $others; ours: $ours"; return 1; }
    rm -r hers moved
  done
}

@test "a mount that somebody put over ours stays at the end, and that ours is left dead below it is not kept silent" {
  [ "$(id -u)" -eq 0 ] || skip "only root mounts by itself"
  needs_fuse
  mkdir d
  begin 1 kunpeng --sysfs d
  mount -t tmpfs somebody-elses "$PWD/d" || { end TERM; skip "nothing can be mounted here"; }
  kill -TERM "$machine"
  status=0
  wait "$machine" || status=$?
  machine=
  grep -q "^somebody-elses $PWD/d " /proc/mounts && theirs=1 || theirs=0
  umount "$PWD/d"
  grep -q " $PWD/d fuse.tally " /proc/mounts && ours=1 || ours=0
  [ "$status $theirs $ours" = "1 1 1" ]
  fix=$(sed -n "s/.*another file system is mounted over it; unmount that one, then run '\(.*\)'$/\1/p" said)
  [ "$fix" = "umount -l $PWD/d" ] || { cat said; return 1; }
  $fix
  ! mounted || return 1
  begin 1 kunpeng --sysfs d
  end TERM
}

@test "who unmounts the directory ends the machine" {
  needs_fuse
  mkdir d
  begin 2 kunpeng --sysfs d --listen s
  umount "$PWD/d" 2>/dev/null || fusermount3 -u "$PWD/d"
  status=0
  wait "$machine" || status=$?
  machine=
  [ "$status" -eq 1 ]
  grep -q 'unmounted by another program' said
  [ ! -e s ]
}

@test "a directory that won't do is refused" {
  needs_fuse
  refused 2 "none: No such file or directory" kunpeng --sysfs none
  touch file
  refused 2 "file: Not a directory" kunpeng --sysfs file
  refused 2 "is not empty" kunpeng --sysfs .
  mkdir d
  begin 1 kunpeng --sysfs d
  refused 2 "d is not empty" kunpeng --sysfs d
  end TERM
}

# ---- what is wrong -----------------------------------------------------------------------------------

@test "wrong options end with status 2 and say what is wrong" {
  refused 2 "no machine given (expected kunpeng"
  refused 2 "no interface given: add --listen, --vfio-user or --sysfs" kunpeng
  refused 2 "unknown platform 'kunpen'; did you mean 'kunpeng'?" kunpen --listen s
  refused 2 "cannot run 'local' as a machine" local --listen s
  refused 2 "cannot run 'unix:s' as a machine" unix:s --listen s
  refused 2 "load=mixt: unknown load" kunpeng,load=mixt --listen s
  refused 2 "unexpected argument 'kunpeng': only one machine can be given" kunpeng kunpeng --listen s
  refused 2 "--listen can be given only once" kunpeng --listen s --listen t
  refused 2 "the machine has no device 'hisi_ptt0_3'; did you mean" kunpeng --vfio-user v --device hisi_ptt0_3
  refused 2 "--device=hisi_ptt0_0 requires --vfio-user" kunpeng --listen s --device hisi_ptt0_0
  refused 2 "invalid socket path '' (1 to 107 bytes)" kunpeng --listen ''
  refused 2 "--listen=v and --vfio-user=v are the same path: each interface needs its own" kunpeng --listen v --vfio-user v
  refused 2 "--vfio-user=d and --sysfs=d are the same path: each interface needs its own" kunpeng --vfio-user d --sysfs d
  refused 1 "/no/such/s: No such file or directory" kunpeng --listen /no/such/s
  [ ! -e s ] && [ ! -e v ]
}

# ---- help ----------------------------------------------------------------------------------------------

@test "help has three examples, and the page each option" {
  [ "$("$TALLY" machine -h | grep -cE '^  tally machine ')" -eq 3 ]
  "$TALLY" machine -h | sed -n 's/^  *\(-[a-z],\)\{0,1\} *\(-[-a-z0-9]*\).*/\2/p' | while read -r option; do
    grep -qE -- "\`$option(\`|=| |\[)" "$BATS_TEST_DIRNAME/../doc/verb/machine.md" || { echo "not in the page: $option"; return 1; }
  done
}
