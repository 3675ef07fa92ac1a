#!/usr/bin/env bats
# A program whose file has capabilities (setcap), in the hands of a user who has none: what he gets of them, and what he doesn't.

load common

ALL=cap_perfmon,cap_bpf,cap_syslog,cap_sys_ptrace

setup() {
  [ "$(id -u)" -eq 0 ] || skip "only root can give a file capabilities and become nobody"
  command -v setcap >/dev/null || skip "no setcap"
  cd "$BATS_TEST_TMPDIR" || return 1
  let_others_in
  mkdir -m 777 his && cp "$TALLY" tally && cp "$TALLY" plain && chmod 755 tally plain
  setcap $ALL=ep tally || skip "this file system keeps no capabilities"
  as_nobody grep -q CapEff /proc/self/status || skip "nobody can't run a program from here"
}

as_nobody() { env HOME="$PWD/his" setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
# The same in the background, without what bats waits for; its number is in $job.
in_background() { (exec env HOME="$PWD/his" setpriv --reuid=65534 --regid=65534 --clear-groups "$@") >/dev/null 2>&1 3>&- & job=$!; }
teardown() { for job in $(jobs -p); do kill "$job"; done 2>/dev/null; true; }
# The row of a capability set in /proc/PID/status, without leading zeroes.
capabilities() { sed -n "s/^$2:[[:space:]]*0*//p" "/proc/$1/status"; }

# A library that leaves the capabilities of who loaded it in the file `loaded`.
evil_library() {
  cat >evil.c <<END
#include <stdio.h>
__attribute__((constructor)) static void loaded(void)
{
	FILE *in = fopen("/proc/self/status", "r"), *out = fopen("$PWD/his/loaded", "a");
	char line[256];

	while (in && out && fgets(line, sizeof(line), in))
		if (line[0] == 'C' && line[3] == 'E')
			fputs(line, out);
	if (out)
		fclose(out);
}
END
  gcc -shared -fPIC -o "$1" evil.c
}

# Every way to a library that is the user's to choose.
load_all() {
  for verb in "export --sql 'SELECT 1' $BATS_TEST_DIRNAME/fixture/none" "--version" "doctor" "export -o x.parquet x"; do
    eval "as_nobody env $2 $PWD/$1 $verb" </dev/null >/dev/null 2>&1 || [ $? -le 4 ] || return 1      # it ran, and ended by itself
  done
}

@test "a library that TALLY_DUCKDB names is not loaded by a program whose file has capabilities" {
  evil_library his/evil.so
  load_all tally "TALLY_DUCKDB=$PWD/his/evil.so"
  [ ! -e his/loaded ] || { cat his/loaded; return 1; }
}

@test "a library in the user's home directory is not loaded by a program whose file has capabilities" {
  mkdir -p his/.local/lib && evil_library his/.local/lib/libduckdb.so
  load_all tally "A=1"
  [ ! -e his/loaded ] || { cat his/loaded; return 1; }
}

@test "no library of LD_LIBRARY_PATH or of the working directory is loaded by a program whose file has capabilities" {
  evil_library his/libduckdb.so
  for name in libpfm.so.4 libzstd.so.1 liblzma.so.5 libfuse3.so.3 libunicorn.so.2; do cp his/libduckdb.so his/$name; done
  tally=$PWD/tally
  cd his
  for path in "$PWD" "" .; do
    as_nobody env LD_LIBRARY_PATH="$path" "$tally" doctor >/dev/null 2>&1 || [ $? -le 4 ] || return 1
    as_nobody env LD_LIBRARY_PATH="$path" "$tally" --version >/dev/null 2>&1
  done
  [ ! -e loaded ] || { cat loaded; return 1; }
}

@test "without capabilities TALLY_DUCKDB and the home directory say where DuckDB is" {
  evil_library his/evil.so
  load_all plain "TALLY_DUCKDB=$PWD/his/evil.so"
  [ -e his/loaded ] && rm his/loaded
  mkdir -p his/.local/lib && cp his/evil.so his/.local/lib/libduckdb.so
  load_all plain "A=1"
  [ -e his/loaded ]
  ! grep -v 'CapEff:[[:space:]]*0*$' his/loaded || return 1
}

@test "who names DuckDB to a program whose file has capabilities is told that it is not heard" {
  "$TALLY" record --on kunpeng -e hisi_ptt0_2/filter=0x80001,type=1/ -o t.data -- true >/dev/null 2>&1
  chmod 644 t.data
  run as_nobody env TALLY_DUCKDB=/evil.so ./tally export --sql 'SELECT 1' t.data
  has "TALLY_DUCKDB is ignored: tally's file has capabilities (see SECURITY in tally(1))"
}

@test "a verb that needs no capability has none, and one that counts has no more than it needs" {
  in_background ./tally machine kunpeng --listen his/sock
  timeout 10 sh -c 'until [ -S his/sock ]; do :; done'
  for set in CapInh CapPrm CapEff CapAmb; do [ -z "$(capabilities $job $set)" ]; done
  in_background ./tally stat -e page-faults -- tail -f /dev/null
  timeout 10 sh -c "until pgrep -x -P $job tail; do :; done" >/dev/null
  [ "$(capabilities $job CapPrm)" = 4000000000 ]
  kill $job
  wait $job || [ $? -eq 143 ]
}

@test "a traced command has none of the capabilities, and what opens files is not in effect while a script runs" {
  needs_bpf
  cat >his/look <<'END'
grep ^Cap /proc/self/status
grep ^Cap "/proc/$PPID/status" | sed s/^/tally/
END
  run as_nobody ./tally trace -qn 'BEGIN { trace("runs\n"); }' -c "sh $PWD/his/look"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  has "runs"
  for set in CapInh CapPrm CapEff CapAmb; do grep -qE "^$set:[[:space:]]*0+$" <<<"$output"; done
  grep -qE "^tallyCapPrm:[[:space:]]*0*c400080000$" <<<"$output"
  grep -qE "^tallyCapEff:[[:space:]]*0*c000000000$" <<<"$output"
}

@test "capabilities that processes inherit do not reach a traced command, whether a file gave them or the user had them" {
  needs_bpf
  run setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps +perfmon,+bpf,+syslog --ambient-caps +perfmon,+bpf,+syslog \
    ./plain trace -qn 'BEGIN { trace("runs\n"); }' -c "grep ^Cap /proc/self/status"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  has "runs"
  for set in CapInh CapPrm CapEff CapAmb; do grep -qE "^$set:[[:space:]]*0+$" <<<"$output"; done
}

@test "the user's files are opened with the user's rights though the program's file has capabilities" {
  needs_bpf
  mkdir -m 700 roots && echo 'BEGIN { trace("secret"); exit(0); }' >roots/script && chmod 644 roots/script
  tail -f /dev/null 3>&- & holder=$!
  # a way that cap_sys_ptrace would open, to a file that everybody may read
  echo 'BEGIN { trace("by another way"); exit(0); }' >his/script && chmod 644 his/script
  for file in "$PWD/roots/script" "/proc/$holder/root$PWD/his/script"; do
    run as_nobody ./tally trace -qs "$file"
    [ "$status" -eq 1 ]
    has "Permission denied"
  done
  run as_nobody ./tally trace -qn 'BEGIN { trace("x"); exit(0); }' -o "$PWD/roots/out"
  [ "$status" -eq 1 ]
  [ ! -e roots/out ]
  kill $holder
}

@test "with capabilities of its file tally names functions of the kernel and of other users' processes" {
  needs_bpf
  address=$(awk '$3 == "schedule" { print "0x" $1 }' /proc/kallsyms)
  run as_nobody ./tally trace -qn "BEGIN { printf(\"%a\", $address); exit(0); }"
  [ "$status" -eq 0 ]
  has 'vmlinux`schedule'
  cat >spin.c <<'END'
#include <unistd.h>
__attribute__((noinline)) void turn_round(void) { for (volatile int i = 0; i < 1000000; i++) ; }
int main(void) { for (;;) turn_round(); }
END
  gcc -O1 -o spin spin.c
  ./spin 3>&- & spin=$!
  run as_nobody ./tally trace -qn 'profile-997 /pid == $target && arg1/ { @[ufunc(arg1)] = count(); n++; } profile-997 /n > 20/ { exit(0); }' -p $spin
  kill $spin
  [ "$status" -eq 0 ]
  has 'spin`turn_round'
}

@test "destructive actions are refused to a program whose file has capabilities, whoever allows them" {
  needs_bpf
  for allow in "-w" "-x destructive"; do
    run as_nobody ./tally trace -q $allow -n 'BEGIN { exit(0); }'
    [ "$status" -eq 4 ]
    has "destructive actions are not permitted to a program that has its capabilities from its file"
  done
  run as_nobody env DTRACE_OPT_DESTRUCTIVE=1 ./tally trace -qn 'BEGIN { exit(0); }'
  [ "$status" -eq 4 ]
  printf '#pragma D option destructive\nBEGIN { exit(0); }\n' >his/d.d
  run as_nobody ./tally trace -qs his/d.d
  [ "$status" -eq 4 ]
  run "$TALLY" trace -qw -n 'BEGIN { exit(0); }'
  [ "$status" -eq 0 ]
}

@test "a set-user-ID tally refuses to run" {
  chmod u+s plain
  for words in "--version" "doctor" "trace -n 'BEGIN { exit(0); }'"; do
    eval "run as_nobody ./plain $words"
    [ "$status" -eq 4 ]
    has "tally must not be set-user-ID or set-group-ID: give its file capabilities instead, see SECURITY in tally(1)"
  done
}

@test "the command that gives rights keeps others than a group from running the program, and gives no more than is needed" {
  as_nobody ./plain doctor --json >said || [[ $? == [34] ]]
  for row in "perf_hardware cap_perfmon" "bpf cap_perfmon,cap_bpf" "kallsyms cap_perfmon,cap_bpf,cap_syslog"; do
    set -- $row
    fix=$(sed -n "s/.*\"key\":\"$1\".*\"fix\":\"\(.*\)\".*/\1/p" said)
    [[ -z $fix || $fix == *"chgrp perf_users"*"chmod 750"*"setcap $2=ep "* ]] || { echo "$fix"; return 1; }
  done
  grep -q '"fix":"[^"]*setcap' said || grep -q setcap said
  ! grep setcap said | grep -vF 'chmod 750' || return 1
}

# The command that doctor gives a user who has no rights, in `fix`, for group/tally; root is in sudo's place.
command_for_group() {
  needs_bpf
  command -v gpasswd >/dev/null || skip "no gpasswd"
  ! getent group perf_users >/dev/null || skip "there is a group perf_users here"
  mkdir group bin && cp "$TALLY" group/tally && chmod 755 group/tally
  as_nobody group/tally doctor | sed -n '/First:$/,$p' | tail -n +2 >fix
  printf '#!/bin/sh\nexec "$@"\n' >bin/sudo && chmod 755 bin/sudo
}

@test "the command that gives rights installs setcap where it is missing, and changes nothing where that fails" {
  command_for_group
  for tool in sh groupadd gpasswd chgrp chmod; do ln -s "$(command -v $tool)" bin/; done
  printf '#!/bin/sh\necho "$@" >>asked\n[ -e refuse ] && exit 100\nexec /bin/ln -s %s bin/setcap\n' "$(command -v setcap)" >bin/apt-get
  chmod 755 bin/apt-get
  touch refuse
  PATH=$PWD/bin SUDO_USER=nobody sh fix >said 2>&1 && { echo "it should have failed"; return 1; }
  [ "$(stat -c '%a %U:%G' group/tally)" = "755 root:root" ]
  ! getent group perf_users || return 1
  rm refuse
  PATH=$PWD/bin SUDO_USER=nobody sh fix >said 2>&1 || { cat said; groupdel perf_users; return 1; }
  groupdel perf_users
  output=$(cat asked; getcap group/tally)
  has "install -y libcap2-bin"
  has "cap_perfmon,cap_bpf=ep"
}

@test "the command that gives rights gives them to the group and to nobody else" {
  command_for_group
  PATH=$PWD/bin:$PATH SUDO_USER=nobody sh fix >said 2>&1
  gid=$(getent group perf_users | cut -d: -f3)
  {
    stat -c '%a %G' group/tally
    getcap group/tally
    setpriv --reuid=65534 --regid=65534 --groups="$gid" group/tally trace -qn 'profile-97 { trace("counted"); exit(0); }'
    as_nobody sh -c "group/tally --version" || echo "a stranger may not"
  } >>said 2>&1
  groupdel perf_users
  output=$(cat said)
  has "750 perf_users"
  has "cap_perfmon,cap_bpf=ep"
  has "counted"
  has "a stranger may not"
}
