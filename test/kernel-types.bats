#!/usr/bin/env bats
# The kernel's types in scripts: found by name, read when they are named, refused where there is no kernel.
load common

setup() {
  [ "$(id -u)" -eq 0 ] || skip "reading the kernel's memory needs root"
  [ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no type information"
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

@test "a symbol that the kernel has not is refused with what is near" {
  run "$TALLY" trace -qn 'BEGIN { trace(`no_such_variable); }'
  [ "$status" -eq 1 ]
  [[ ${lines[0]} == *'failed to resolve `no_such_variable: Unknown symbol name' ]]
  if [ "$(grep -c ' [bBdDrR] [^[]*$' /proc/kallsyms)" -lt 1000 ]; then
    [[ ${lines[1]} == *CONFIG_KALLSYMS_ALL* ]]
  else
    [[ ${lines[1]} == *"the kernel has no symbol no_such_variable"* ]]
    run "$TALLY" trace -qn 'BEGIN { trace(`max_pfm); }'
    [[ ${lines[1]} == *"did you mean max_pfn?" ]]
  fi
}

@test "in the vm a kernel's symbol is refused when the program is compiled" {
  run "$TALLY" trace --on=vm -qn 'BEGIN { trace(`max_pfn); }'
  [ "$status" -eq 1 ]
  [[ $output == *'`max_pfn is a symbol of a kernel: there is none where this runs'* ]]
}
