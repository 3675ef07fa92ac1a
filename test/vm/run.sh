#!/bin/bash
# run.sh - the checks of guest.sh in an arm64 guest with Linux 6.1 and an emulated PMU, and before them those of hotplug.sh
# in one with two CPUs; speaks TAP.
# Needs `make cross-arm64`.
# GUEST_PROGRAMS (250) of the generated programs run there, for GUEST_SECONDS (840) at most.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/unit"
# The unit tests that ask the kernel; what models and files say is the same everywhere.
for t in build/arm64/test/{kernel_*,provider_cpc*,session_{session,run,snapshot,differential,subroutine,speculate,scratch},ask_stat_cpu}_test; do
  [ ! -x "$t" ] || cp "$t" "$work/unit/"
done
test/vm/pmu-vm.sh -c 2 -t 300 -f build/arm64/tally -f test 'sh test/vm/hotplug.sh' >"$work/two" ||
  [ $? -eq 1 ] || echo "not ok - the guest of two CPUs ends well" >>"$work/two"
cat "$work/two"
n=$(grep -cE '^(not )?ok ' "$work/two" || :) bad=$(grep -c '^not ok ' "$work/two" || :)
test/vm/pmu-vm.sh -t "${GUEST_SECONDS:-840}" -f build/arm64/tally -f build/arm64/prog/spin -f build/arm64/prog/count \
  -f build/arm64/prog/reuse -f build/arm64/prog/plugin_a.so -f build/arm64/prog/plugin_b.so -f build/arm64/prog/image_a -f build/arm64/prog/image_b \
  -f build/arm64/prog/calls -f build/arm64/prog/tasks -f build/arm64/prog/functions -f lib \
  -f "$work/unit" -f examples -f test \
  "n=$n bad=$bad TALLY_DIFFERENTIAL_PROGRAMS=${GUEST_PROGRAMS:-250} sh test/vm/guest.sh"
