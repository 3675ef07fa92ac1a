# kernel-guest.sh - what is checked in the guest of kernel.sh, by busybox sh; speaks TAP.
. ./tap.sh
d() { tally trace -x syslibdir=/guest/lib/d -q "$@" 2>&1; } # OPTION...

echo "# $(uname -srm)"
is "a variable that BTF has no type of is read as an unsigned long" "$(d -n 'BEGIN { printf("%d", `max_pfn > 1000 && `max_pfn < 0x10000000000); exit(0); }')" 1
is "its address is that of /proc/kallsyms" "$(d -n 'BEGIN { printf("%x", (uintptr_t)&`max_pfn); exit(0); }')" \
  "$(awk '$3 == "max_pfn" { sub("^0*", "", $1); print $1; exit }' /proc/kallsyms)"
is "the banner is that of /proc/version" "$(d -x strsize=400 -n 'BEGIN { printf("%s", stringof((char *)&`linux_banner)); exit(0); }')" "$(cat /proc/version)"
is "a module's name before it finds the same" "$(d -n 'BEGIN { printf("%d", &vmlinux`linux_banner == &`linux_banner); exit(0); }')" 1
echo 17 >/proc/sys/kernel/panic
is "panic_timeout is what sysctl set, cast to its type" "$(d -n 'BEGIN { printf("%d", *(int *)&`panic_timeout); exit(0); }')" 17
is "a cast of the value, too" "$(d -n 'BEGIN { printf("%d", (int)`panic_timeout); exit(0); }')" 17
is "jiffies goes on" "$(d -n 'BEGIN { then = `jiffies; } tick-100ms { printf("%d", `jiffies > then && `jiffies - then < 1000); exit(0); }')" 1
is "pointers to a variable are counted in its type" "$(d -n 'BEGIN { p = &`max_pfn; printf("%d %d", p + 1 == (unsigned long *)((uintptr_t)p + 8), *p == `max_pfn); exit(0); }')" "1 1"
is "init_task is the first of all tasks" "$(d -n 'BEGIN { t = (struct task_struct *)&`init_task; printf("%d %s", t->pid, stringof(t->comm)); exit(0); }')" "0 swapper/0"
is "curthread's parents end at init_task" \
  "$(d -n 'BEGIN { printf("%d", curthread->real_parent->real_parent->real_parent->real_parent->real_parent == (struct task_struct *)&`init_task || curthread->real_parent->pid != 0); exit(0); }')" 1
is "a chain of pointers of the kernel's types" "$(d -n 'BEGIN { printf("%s", stringof(curthread->nsproxy->uts_ns->name.release)); exit(0); }')" "$(uname -r)"
is "members that are keywords of D, through a symbol" \
  "$(d -n 'BEGIN { r = (struct cgroup_root *)&`cgrp_dfl_root; printf("%d", r->cgrp.self.cgroup == &r->cgrp); exit(0); }')" 1
is "a symbol in an inline definition" "$(d -n 'inline unsigned long *where = (unsigned long *)&`max_pfn; BEGIN { printf("%d", *where == `max_pfn); exit(0); }')" 1
said=$(d -n 'BEGIN { trace(`max_pfm); }')
check "$(printf '%s' "$said" | grep -q 'did you mean `max_pfn?'; echo $?)" "a misspelt symbol is refused with what is near" "$said"
said=$(d -n 'BEGIN { trace(`runqueues); }')
check "$(printf '%s' "$said" | grep -q 'per-CPU variable'; echo $?)" "a per-CPU variable is refused" "$said"
said=$(d -n 'BEGIN { *(&`max_pfn) = 20; }')
check "$([ $? -ne 0 ]; echo $?)" "the kernel's memory is not written" "$said"
is "a pointer that leads nowhere fires ERROR with the address that failed" \
  "$(d -n 'BEGIN { trace(*(int *)0x40); } ERROR { printf("%d %x", arg4 == DTRACEFLT_BADADDR, arg5); exit(0); }' | tail -n 1)" "1 40"
is "a user address in the place of a kernel's, too" \
  "$(d -n 'BEGIN { trace(((struct task_struct *)&`init_task)->mm->pgd); } ERROR { printf("%d", arg4 == DTRACEFLT_BADADDR); exit(0); }' | tail -n 1)" 1
is "the process's fields are those of /proc" "$(d -n 'BEGIN { printf("%d %d", curpsinfo->pr_pid == pid, curpsinfo->pr_ppid == ppid); exit(0); }')" "1 1"
is "a call's typed arguments" "$(d -n 'syscall::openat:entry /pid == $target/ { self->path = args[1]; self->fd = args[0]; }
  syscall::openat:return /self->path && copyinstr((uintptr_t)self->path) == "/etc/passwd"/ {
    printf("%d %s %d\n", self->fd, stringof(self->path), args[0] >= 0); exit(0); }' -c 'cat /etc/passwd' | grep -v root | head -n 1)" "-100 /etc/passwd 1"
# What the page of the published structs gives, of each struct that it is translated from: this kernel takes the program.
mkdir -p /tmp/given
awk -F' *[|] *' '/^## / { split($0, h, ": "); sub("^## ", "", h[1]); of = h[1]; gsub("[`,]", "", h[2]); n = split(h[2], from, " ") }
  of != "" && $2 ~ /^`/ { gsub("`", "", $2); gsub("`", "", $4)
    for (i = 1; i <= n; i++) if (index(" " $4 " ", " " from[i] " ") == 0) {
      arg = from[i] == "processorid_t" ? "(processorid_t)0" : "(struct " from[i] " *)0"
      print "BEGIN { print(xlate < " of " > (" arg ")." $2 "); }" >>("/tmp/given/" of "." from[i]) } }' translators.md
taken=0 refused=
for f in /tmp/given/*; do
  said=$(d -s "$f" -n 'BEGIN { exit(7); }')
  if [ $? -eq 7 ]; then taken=$((taken + 1)); else refused="$refused$f: $said"; fi
done
check "$([ -z "$refused" ] && [ $taken -gt 30 ]; echo $?)" "this kernel takes every member of the published structs: $taken programs" "$refused"
said=$(d -n 'syscall::kill:entry /pid == $target && arg1 == 0/ { printf("size %d rss %d args %d %s model %d\n", curpsinfo->pr_size, curpsinfo->pr_rssize,
  curpsinfo->pr_argc, curpsinfo->pr_psargs, curpsinfo->pr_dmodel); printf("start %d call %d\n", curpsinfo->pr_start.tv_sec, curlwpsinfo->pr_syscall); }' \
  -c 'sh -c "read -r s </proc/self/stat; echo of \$s; kill -0 \$\$"')
printf '%s\n' "$said" | awk -v btime="$(awk '$1 == "btime" { print $2 }' /proc/stat)" '$1 == "of" { size = $24 / 1024; rss = $25 * 4; start = btime + $23 / 100 }
  $1 == "size" { d = $4 - rss; bad += $2 - size > 64 || size - $2 > 64 || d > 512 || -d > 512 || $6 != 3 || $7 != "sh" || $NF != 2; n++ }
  $1 == "start" { d = $2 - start; bad += d > 1.5 || -d > 1.5 || $4 != 62; n++ } END { exit n != 2 || bad }'
check $? "a process has the size, memory, arguments and start that /proc says" "$said"
run=0
while read -r i where; do
  [ "$where" = guest ] || continue
  run=$((run + 1))
  eval "set -- $(cat "page/$i.options")"
  is "example $i of doc/d.md prints what the page shows" "$(tally trace -x syslibdir=/guest/lib/d -q "$@" -s "page/$i.d" 2>errors </dev/null | sed 's/ *$//; /^$/d'; cat errors)" "$(cat "page/$i.want")"
done <page/list
check "$([ $run -gt 2 ]; echo $?)" "doc/d.md has examples of such a kernel" "$run"
. ./function-guest.sh
mkdir /tmp/cgroup
if mount -t cgroup2 cgroup2 /tmp/cgroup && mkdir -p /tmp/cgroup/one/two && echo $$ >/tmp/cgroup/one/two/cgroup.procs; then
  is "zonename is the path of the thread's cgroup" "$(d -n 'BEGIN { printf("%s", zonename); exit(0); }')" /one/two
else
  echo "# no cgroups of version 2 here"
fi
plan
