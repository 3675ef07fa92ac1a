#!/bin/bash
# probes.sh - all providers but those that need what arm64 has not in Linux 6.1, and vcounter(), in arm64 guests with that kernel, of one CPU
# and of two: probe-guest.sh, thread-guest.sh; speaks TAP.  Needs `make all progs cross-arm64`.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A program with static probes.
cat >"$work/app.d" <<'D'
provider app {
	probe req(int, long);
	probe idle();
};
D
cat >"$work/app.c" <<'C'
#include "app.h"
#include <stdio.h>
#include <stdlib.h>

static __attribute__((noinline)) void serve(int i)
{
	APP_REQ(i, -i);
}

int main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 0;

	for (int i = 1; i <= n; i++)
		serve(i);
	printf("%d\n", n);
	if (APP_IDLE_ENABLED()) {
		APP_IDLE();
		puts("looked");
	}
	return 0;
}
C
build/tally trace -h -s "$work/app.d" -o "$work/app.h"
aarch64-linux-gnu-gcc -O2 -Wall -Werror -o "$work/app" "$work/app.c"
truncate -s 16M "$work/disk"

guest() { # OPTION... COMMAND: what it prints goes on from what came before
  local said
  said=$(test/vm/pmu-vm.sh "${@:1:$#-1}" -f build/arm64/tally -f lib -f "$work/app" -f test/vm/tap.sh -f test/vm/probe-guest.sh -f test/vm/thread-guest.sh \
    $(printf -- '-f build/arm64/prog/%s ' calls tasks functions pf packets threads) "n=$n bad=$bad; . ./tap.sh; ${*: -1}") ||
    [ $? -eq 1 ] || said+=$'\nnot ok - the guest ends well'
  echo "$said"
  n=$((n + $(grep -cE '^(not )?ok ' <<<"$said" || :))) bad=$((bad + $(grep -c '^not ok ' <<<"$said" || :)))
}
n=0 bad=0
guest -t 400 -d "$work/disk" '. ./probe-guest.sh; set -- page-faults context-switches cycles:u instructions:u; . ./thread-guest.sh; [ $bad -eq 0 ]'
guest -t 400 -c 2 'set -- page-faults context-switches cycles:u; . ./thread-guest.sh; [ $bad -eq 0 ]'
echo "1..$n"
[ $bad -eq 0 ]
