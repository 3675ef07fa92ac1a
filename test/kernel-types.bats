#!/usr/bin/env bats
# The kernel's types in scripts: found by name, read when they are named, refused where there is no kernel.
load common

setup() {
  needs_types
}

@test "curthread is the thread that fires, through pointers of the kernel's types" {
  run "$TALLY" trace -qn 'BEGIN { printf("%d %s %d\n", curthread->tgid == pid, stringof(curthread->comm),
    curthread->group_leader->pid == pid); exit(curthread->mm != 0 ? 0 : 1); }'
  [ "$status" -eq 0 ]
  [ "$output" = "1 tally 1" ]
}

@test "names of the kernel's types stand in casts, declarations, sizeof and tuples" {
  run "$TALLY" trace -qn 'struct task_struct *t; nodemask_t *m; this gfp_t g; int by[gfp_t];
    BEGIN { t = curthread; by[1] = 4; this->g = (gfp_t)7;
      printf("%d %d %d %d\n", t->tgid == pid, sizeof(nodemask_t) == sizeof(*m), by[1], this->g);
      printf("%d\n", sizeof(struct list_head) + offsetof(struct list_head, prev) + sizeof(struct vmlinux`list_head));
      printf("%d\n", ((`struct task_struct *)curthread)->tgid == pid && PIDTYPE_TGID == 1); exit(0); }'
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "1 1 4 7" ]
  [ "${lines[1]}" = "40" ]
  [ "${lines[2]}" = "1" ]
}

@test "a kernel pointer that leads nowhere faults with its address" {
  run "$TALLY" trace -qn 'BEGIN { trace(((struct task_struct *)8)->group_leader->pid); } ERROR { printf("%d\n", arg4); exit(0); }'
  [ "$status" -eq 0 ]
  [[ $output == *"invalid address (0x"*") in action at line 1"* ]]
  [[ $output == *$'\n1'* || $output == 1$'\n'* ]]
}

@test "a member that a struct of the kernel has not is refused with what is near" {
  run "$TALLY" trace -qn 'BEGIN { trace(curthread->tgidd); }'
  [ "$status" -eq 1 ]
  [[ $output == *"tgidd is not a member of struct task_struct; did you mean tgid?"* ]]
}

@test "in the vm a name of the kernel is refused when the program is compiled" {
  run "$TALLY" trace --on=vm -qn 'BEGIN { trace(curthread->tgid); }'
  [ "$status" -eq 1 ]
  [[ $output == *"curthread is a pointer into a kernel"* ]]
}

# What the symbols of a kernel with variables mean: test/vm/guest.sh.
@test "a kernel's function is its address, with & or without" {
  run "$TALLY" trace -qn 'BEGIN { printf("%d ", &`schedule == `schedule && `schedule == vmlinux`schedule); trace(sym(`schedule)); exit(0); }'
  [ "$status" -eq 0 ]
  [[ $output == "1 "*schedule* ]]
}

@test "a symbol that the kernel has not is refused with what is near, under either name" {
  for words in "$TALLY trace" as_dtrace; do
    run $words -qn 'BEGIN { trace(`vfs_raed); }'
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == *'failed to resolve `vfs_raed: Unknown symbol name; '*'did you mean `vfs_read?' ]]
    run $words -qn 'BEGIN { trace(vmlinux`vfs_raed); }'
    [[ ${lines[0]} == *'did you mean vmlinux`vfs_read?' ]]
    run $words -qn 'BEGIN { trace(`no_such_variable); }'
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == *'failed to resolve `no_such_variable: Unknown symbol name; '* ]]
    if [ "$(grep -c ' [bBdDrR] [^[]*$' /proc/kallsyms)" -lt 1000 ]; then
      [[ ${lines[0]} == *CONFIG_KALLSYMS_ALL* ]]
    else
      [[ ${lines[0]} == *"the kernel has no symbol no_such_variable"* ]]
      run $words -qn 'BEGIN { trace(`max_pfm); }'
      [[ ${lines[0]} == *'did you mean `max_pfn?' ]]
    fi
  done
}

@test "without cap_syslog a symbol that is there needs that right, and one that is not there is told as missing" {
  [ "$(id -u)" -eq 0 ] || skip "only root can leave a capability out"
  command -v setpriv >/dev/null || skip "no setpriv"
  without() { run setpriv --bounding-set=-syslog --inh-caps=-syslog "$TALLY" trace -qn "BEGIN { trace((long)&$1); exit(0); }"; }
  without '`schedule'
  [ "$status" -eq 0 ] || has "the kernel hides its addresses"
  without '`vfs_raed'
  [ "$status" -eq 1 ]
  has 'did you mean `vfs_read?'
  [[ $output != *cap_syslog* ]]
}

@test "in the vm a kernel's symbol is refused when the program is compiled" {
  run "$TALLY" trace --on=vm -qn 'BEGIN { trace(`max_pfn); }'
  [ "$status" -eq 1 ]
  [[ $output == *'`max_pfn is a symbol of a kernel: there is none where this runs'* ]]
}

@test "print() names the enumerators of the kernel's enums, and casts to them keep their value" {
  run "$TALLY" trace -qn 'enum pid_type t; struct s { int a; enum pid_type p; } x;
    BEGIN { t = PIDTYPE_TGID; print(t); x.p = PIDTYPE_SID; print(x); print((enum hrtimer_restart)1); print((enum pid_type)77);
      printf("|%d|", (int)(enum hrtimer_restart)1); exit(0); }'
  [ "$status" -eq 0 ]
  has "(enum pid_type)PIDTYPE_TGID"
  has ".p = (enum pid_type)PIDTYPE_SID,"
  has "(enum hrtimer_restart)HRTIMER_RESTART"
  has "(enum pid_type)77"
  has "|1|"
  run "$TALLY" trace -qn 'BEGIN { trace((enum no_such_enum)1); }'
  [ "$status" -eq 1 ]
  has '"enum no_such_enum" is incomplete'
}

@test "d_path(), cwd, root and fi_pathname say where files are, across mounts" {
  deep=$BATS_TEST_TMPDIR/a/bb/ccc
  mkdir -p "$deep"
  cd "$deep"
  run "$TALLY" trace -qn 'BEGIN { printf("%s %s %s\n", cwd, root, d_path(&curthread->fs->pwd)); exit(0); }'
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "$(pwd -P) / $(pwd -P)" ]
  run "$TALLY" trace -qn 'syscall::read:entry /pid == $target && fds[arg0].fi_name == "vmlinux"/ { @[fds[arg0].fi_pathname, cwd] = count(); }' \
    -c "cat /sys/kernel/btf/vmlinux" 2>/dev/null
  grep -aqE "^  /sys/kernel/btf/vmlinux +$(pwd -P) " <<<"$output"
  run "$TALLY" trace -qn 'BEGIN { printf("%s|%s\n", fds[7].fi_pathname, fds[8].fi_pathname); exit(0); }' 7</dev/null 8<"$TALLY"
  [ "${lines[0]}" = "/dev/null|$(realpath "$TALLY")" ]
}

@test "a path that is too deep or too long for d_path() begins with dots" {
  cd "$BATS_TEST_TMPDIR"
  for i in $(seq 10 39); do mkdir "$i"; cd "$i"; done
  run "$TALLY" trace -qn 'BEGIN { printf("%s\n", cwd); exit(0); }'
  [ "$status" -eq 0 ]
  [[ "${lines[0]}" =~ ^\.\.\.(/[0-9]{2}){21}/37/38/39$ ]]
  [[ "$(pwd -P)" == *"${lines[0]#...}" ]]
  run "$TALLY" trace -x strsize=20 -qn 'BEGIN { printf("%s\n", cwd); exit(0); }'
  [ "${lines[0]}" = ".../35/36/37/38/39" ]
  mkdir "$(printf 'x%.0s' $(seq 250))"
  cd x*
  run "$TALLY" trace -qn 'BEGIN { printf("%s\n", cwd); exit(0); }'
  [ "${lines[0]}" = "...$(basename "$(pwd)" | sed 's,^,/,')" ]
}

@test "sizeof takes a type with the module that it is of, as a cast does" {
  run "$TALLY" trace -qn 'BEGIN { printf("%d %d %d", sizeof (vmlinux`struct task_struct) == sizeof (struct task_struct), sizeof (`kuid_t), sizeof (vmlinux`struct file *)); exit(0); }'
  said 0 "1 4 8"
}

@test "fi_mount and d_path() of a mount say where it is mounted; a pipe is mounted nowhere" {
  run "$TALLY" trace -qn 'BEGIN { printf("%s|%s|%s\n", fds[7].fi_mount, fds[8].fi_mount, d_path(curthread->fs->root.mnt)); exit(0); }' \
    7</proc/self/mounts 8< <(:)
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "/proc|<none>|/" ]
  unshare -m true 2>/dev/null || skip "no mount may be made here"
  mkdir "$BATS_TEST_TMPDIR/mnt"
  run unshare -m sh -c 'mount -t tmpfs none "$1/mnt" && mkdir "$1/mnt/deep" && echo >"$1/mnt/deep/f" &&
    "$2" trace -qn "BEGIN { printf(\"%s\n\", fds[7].fi_mount); exit(0); }" 7<"$1/mnt/deep/f"' sh "$BATS_TEST_TMPDIR" "$TALLY"
  [ "${lines[0]}" = "$(realpath "$BATS_TEST_TMPDIR")/mnt" ]
}

@test "a misspelt type of the kernel is told with the one that is near" {
  while IFS='|' read -r script words; do
    run "$TALLY" trace -xerrtags -en "$script"
    [ "$status" -eq 1 ]
    has "$words"
  done <<'ROWS'
BEGIN { trace(((struct task_strct *)curthread)->pid); }|[D_OP_INCOMPLETE] in action list: operator -> cannot be applied to a forward declaration: no struct task_strct definition is available; did you mean struct task_struct?
struct list_hed l; BEGIN { trace(1); }|[D_DECL_INCOMPLETE] incomplete struct/union/enum struct list_hed: l; did you mean struct list_head?
BEGIN { trace((enum pid_typ)1); }|did you mean enum pid_type?
BEGIN { trace((vmlinux`gfp_tt)1); }|did you mean gfp_t?
BEGIN { trace((list_head *)arg0); }|did you mean struct list_head?
BEGIN { trace(((struct vmlinux`task_strct *)1)->pid); }|did you mean struct task_struct?
ROWS
  run "$TALLY" trace -en 'BEGIN { trace(((struct zzqqxxyy *)curthread)->pid); }'
  [ "$status" -eq 1 ]
  [[ $output != *"did you mean"* ]]
}

@test "in a pid namespace ppid and progenyof() have the ids of the namespace" {
  unshare --pid --fork --mount-proc true 2>/dev/null || skip "no pid namespace can be made"
  cat >"$BATS_TEST_TMPDIR/ids.d" <<'D'
BEGIN { printf("%d %d %d %d%d%d%d%d\n", pid, ppid, ppid == $ppid, progenyof($pid), progenyof($ppid), progenyof(1), progenyof(0), progenyof(2147483647)); }
proc:::exit /progenyof($target) && pid != $target/ { child += ppid == $target; children++; }
END { printf("%d %d\n", children, child); }
D
  # The process of the namespace, and the shell's child.
  run unshare --pid --fork --mount-proc "$TALLY" trace -q -c 'sh -c "sh -c : & wait; :"' -s "$BATS_TEST_TMPDIR/ids.d"
  said 0 "1 0 1 11110
1 1"
  run unshare --pid --fork --mount-proc sh -c '"$1" trace -q -c "sh -c \"sh -c : & wait; :\"" -s "$2"; exit $?' sh "$TALLY" "$BATS_TEST_TMPDIR/ids.d"
  said 0 "2 1 1 11110
1 1"
}
