# function-guest.sh - sourced by kernel-guest.sh: probes at functions of the kernel, by fentry and by kprobes, against a program that makes
# a known number of calls.
writes() { echo "dd if=/dev/zero of=/dev/null bs=$1 count=$2"; } # BYTES COUNT: its other writes are to stderr
words() { d "$@" | grep -v ' records \(in\|out\)'; }

for how in fentry kprobe; do
  f() { words -x fbt=$how "$@"; }
  is "$how: a function's calls and returns are counted exactly" "$(f -c "$(writes 1 1000)" \
    -n 'fbt::ksys_write:entry /pid == $target && args[0] == 1/ { self->in = 1; @n["entry"] = count(); }
      fbt::ksys_write:return /self->in/ { @n["return"] = count(); @b["bytes"] = sum(args[1]); self->in = 0; }
      END { printa("%s %@d\n", @n); printa("%s %@d\n", @b); }' | sort | tr '\n' ' ')" " bytes 1000 entry 1000 return 1000 "
  is "$how: arguments have the kernel's types" "$(f -c "$(writes 7 1)" -n 'fbt:vmlinux:vfs_write:entry /pid == $target && args[2] == 7/ {
      printf("%s %d %d %d\n", stringof(args[0]->f_path.dentry->d_name.name), args[2], arg2, *args[3]); }' | grep .)" "null 7 7 0"
  is "$how: args[1] and arg1 of a return are the result, arg0 is 0" "$(f -c "$(writes 7 1)" \
    -n 'fbt::vfs_write:return /pid == $target && args[1] == 7/ { printf("%d %d %d %s\n", arg0, arg1, args[0], probefunc); }' | grep .)" "0 7 0 vfs_write"
  is "$how: an error is a negative result" "$(f -c 'cat /tmp/is/not/there' -n 'fbt::do_sys_openat2:return /pid == $target && args[1] < 0/ { @[args[1]] = count(); }
      END { printa("%d %@d", @); }' | grep -v "can't open" | tail -n 1)" "-2 1"
  is "$how: stack() begins with the function, then its caller" "$(f -x stackindent=0 -c "$(writes 7 1)" -n 'fbt::vfs_write:entry /pid == $target && args[2] == 7/ { stack(2); }' |
    sed -n 's/^vmlinux`\([a-z_]*\)+0x.*/\1/p' | tr '\n' ' ')" "vfs_write ksys_write "
  is "$how: so it does as a key, and caller and stackdepth agree" "$(f -x stackindent=0 -c "$(writes 7 1)" -n 'fbt::vfs_write:entry /pid == $target && args[2] == 7/ {
      @[stack(2)] = count(); printf("%d\n", stackdepth > 2); @b[sym(caller)] = count(); }' | sed -e 's/^ *//' -e 's/+0x.*//' -e 's/  */ /g' | grep . | tr '\n' ' ')" \
    "1 vmlinux\`vfs_write vmlinux\`ksys_write 1 vmlinux\`ksys_write 1 "
  is "$how: time from entry to return" "$(f -c "$(writes 1 100)" -n 'fbt::vfs_write:entry /pid == $target && args[2] == 1/ { self->t = timestamp; }
      fbt::vfs_write:return /self->t/ { @["timed"] = count(); @bad = sum(timestamp <= self->t); self->t = 0; } END { printa("%s %@d ", @); printa("%@d", @bad); }')" "timed 100 0"
  is "$how: a pattern of functions" "$(f -c "$(writes 1 50)" -n 'fbt::[kv]*s_write:entry /pid == $target && arg2 == 1/ { @[probefunc] = count(); }
      END { printa("%s %@d\n", @); }' | grep -v 'left out' | sort | tr '\n' ' ')" " ksys_write 50 vfs_write 50 "
  is "$how: both sides in one clause, with names that parts of the description give" "$(f -c "$(writes 1 10)" -n 'fbt::ksys_write: /pid == $target/ { @[probeprov, probemod, probename] = count(); }
      END { printa("%s %s %s %@d\n", @); }' | awk '$4 >= 10 { $4 = "ten"; print }' | sort | tr '\n' ' ')" "fbt vmlinux entry ten fbt vmlinux return ten "
done
is "a module that was loaded after names of the kernel were read has its name and its functions' in a stack" \
  "$(words -x stackindent=0 -c "sh -c 'insmod loop.ko; losetup -f'" -n 'BEGIN { printf("%a\n", (uintptr_t)curthread->sched_class); } fbt::blk_mq_alloc_tag_set:entry { @[stack(2)] = count(); }' |
    sed -n 's/+0x[0-9a-f]* *$//; s/^ *\(.*`.*lo.*_.*\)/\1/p' | grep -v '`bpf_' | sort -u | tr '\n' ' ')" 'loop`loop_add vmlinux`blk_mq_alloc_tag_set '
is "functions of a module" "$(tally trace -l -m fbt:loop | awk '$3 == "loop" && $4 == "lo_ioctl" { print $5 }' | sort | tr '\n' ' ')" "entry return "
for how in fentry kprobe; do
  is "$how: they fire" "$(words -x fbt=$how -c 'losetup -f' -n 'fbt:loop:loop_control_ioctl:entry { printf("%x %s\n", args[1], probemod); }' | grep loop$)" "4c82 loop"
done
said=$(d -n 'fbt::bpf_prog_load:entry { }')
check "$(printf '%s' "$said" | grep -q 'programs of probes need it while they run'; echo $?)" "what programs need while they run is no probe" "$said"
said=$(d -n 'fbt::vfs_wrote:entry { }')
check "$(printf '%s' "$said" | grep -q 'did you mean vfs_write?'; echo $?)" "a function that is not there is refused with what is near" "$said"
said=$(d -n 'fbt::vfs_write:entri { }')
check "$(printf '%s' "$said" | grep -q 'did you mean entry?'; echo $?)" "a misspelt name of a probe, too" "$said"
said=$(d -n 'fbt:vmlinux::entry { }')
check "$(printf '%s' "$said" | grep -q 'are too many'; echo $?)" "all functions at once are refused" "$said"

# ---- probes of other providers that are at functions --------------------------------------------------
for how in fentry kprobe; do
  is "$how: sched:::change-pri has the thread and its new priority" "$(d -x fbt=$how -c 'renice 7 1' \
    -n 'sched:::change-pri /execname == "renice"/ { printf("%d %d %d\n", args[1]->pr_pid, args[0]->pr_pri, args[2]); }' | grep .)" "1 $([ $how = fentry ] && echo 120 || echo 127) 127"
  is "$how: sched:::enqueue and dequeue have the thread and its CPU, tick goes on" "$(d -x fbt=$how -n 'sched:::enqueue { @n[probename] = sum(args[2]->cpu_id == cpu && args[1]->pr_pid >= 0 && args[0]->pr_lwpid > 0); }
      sched:::dequeue { @n[probename] = sum(args[2]->cpu_id == cpu && args[0]->pr_lwpid > 0); } sched:::tick { @n[probename] = sum(1); }
      tick-1s { exit(0); } END { printa("%s %@d\n", @n); }' | awk 'NF == 2 && $2 > 0 { print $1 }' | sort | tr '\n' ' ')" "dequeue enqueue tick "
done
is "lockstat: a mutex is taken and given back once for each write to a pipe" "$(words -c "sh -c 'dd if=/dev/zero bs=1 count=1000 | cat >/dev/null'" \
  -n 'syscall::write:entry /execname == "dd" && args[0] == 1/ { self->in = 1; } syscall::write:return { self->in = 0; }
    lockstat:::adaptive-acquire, lockstat:::adaptive-release /self->in && args[0] != NULL/ { @[probename] = count(); } END { printa("%s %@d\n", @); }' |
  sort | tr '\n' ' ')" " adaptive-acquire 1000 adaptive-release 1000 "
is "lockstat: a wait for a mutex that a signal ended is listed with its error, and none happens where nobody waits" "$(d -lvn lockstat:::adaptive-acquire-error | grep -o 'args.*' | tr '\n' ' '
  words -c 'true' -n 'BEGIN { n = 0; } lockstat:::adaptive-acquire-error { n += args[1] == 0 || args[0] == NULL; } END { printf("%d", n); }')" "args[0]: struct mutex * args[1]: int 0"
is "lockstat: a process is made under one lock for writers, which is given back" "$(words -c "sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do (exit 0); done'" \
  -n 'fbt::copy_process:entry /pid == $target/ { self->in = 1; } fbt::copy_process:return { self->in = 0; }
    lockstat:::rw-acquire /self->in && args[1] == 0 && args[0] != NULL/ { @["taken"] = count(); }
    lockstat:::rw-release /self->in && args[1] == 0 && args[0] != NULL/ { @["given back"] = count(); } END { printa("%s %@d\n", @); }' |
  sort | tr '\n' ' ')" " given back 10 taken 10 "
dd if=/dev/zero of=/tmp/disk bs=1024 count=1024 2>/dev/null
losetup /dev/loop0 /tmp/disk
is "io: who waits for a device waits to the end" "$(words -c 'dd if=/dev/zero of=/dev/loop0 bs=4096 count=1 conv=fsync' \
  -n 'io:::wait-start, io:::wait-done /execname == "dd"/ { printf("%s %s\n", probename, args[1]->dev_statname); }' | sort -u | tr '\n' ' ')" " wait-done loop0 wait-start loop0 "
losetup -d /dev/loop0
is "by kprobes what needs arguments at a return is not listed" "$(tally trace -x fbt=kprobe -l -n 'lockstat:::' -n 'io:::wait*' | awk 'NR > 1 { print $NF }' | sort | tr '\n' ' ')" \
  "adaptive-block adaptive-release adaptive-spin rw-block rw-release rw-spin spin-release spin-spin wait-start "
# `locks` knows how often a thread waits, how long the lock is held meanwhile at least, and how long its calls take.
for kind in mutex:adaptive-block rwsem:rw-block; do
  is "lockstat: ${kind#*:} fires once for each wait, with its time" "$(words -c "locks ${kind%:*} /tmp/locked 5" -n 'BEGIN { n = sum = 0; }' \
    -n "lockstat:::${kind#*:} /execname == \"waiter\" && arg1 > 1000000/ { n++; sum += arg1; }" -n 'END { printf("probe %d %d\n", n, sum); }' |
    awk '$1 == "waits" { held = $4; called = $6 } $1 == "probe" { print $2, (held > 0 && $3 >= held && $3 <= called) }')" "5 1"
done
is "lockstat: this kernel takes the programs of all waits" "$(words -n 'lockstat:::*-block, lockstat:::*-spin { @[probename] = sum(arg1); } tick-100ms { exit(0); } END { printf("ended"); }' | grep -c '^ended')" 1
ifconfig lo up
is "packets of a program, where a distribution's kernel hands them on" "$(words -c 'nslookup x.y 127.0.0.1' \
  -n 'udp:::send /args[4]->udp_dport == 53/ { @["udp"] = sum(args[2]->ip_daddr == "127.0.0.1"); } ip:::receive /args[4]->ipv4_protostr == "UDP"/ { @["ip"] = sum(1); }
    END { printa("%s %@d\n", @); }' | awk '$1 ~ /^(udp|ip)$/ && $2 > 0 { print $1 }' | sort | tr '\n' ' ')" "ip udp "
