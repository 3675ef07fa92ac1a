#!/bin/bash
# flame.sh [-q] - flame graphs of 100,000 different stacks of 50 frames: CPU time and memory from the first row to the last byte, and how
# large the document is. The best of three turns counts. -q: a tenth of the stacks.
#
# The stacks share few callers: below the tenth frame nearly all are apart, so each has some forty boxes of its own. Those of a program share more.
set -u
cd "$(dirname "$0")/.." || exit 1
stacks=100000 patience=10
[ "${1:-}" = -q ] && stacks=10000 patience=1
for b in build/bench/{flame,clock}; do [ -x $b ] || { echo "bench/flame.sh: no $b (make bench)" >&2; exit 3; }; done
trap 'exit 130' INT TERM
. bench/table.sh

figure_head "flame graphs of $stacks stacks"
for form in html folded pprof; do
  figure "$form of $stacks stacks: CPU time" "$(best 3 0 1 "${calm[@]}" build/bench/flame $form $stacks 50)" s - - -
  figure "$form of $stacks stacks: memory" "$(best 1 0 2 build/bench/flame $form $stacks 50)" MiB - - "<= 1024"
  figure "$form of $stacks stacks: size" "$(best 1 0 3 build/bench/flame $form $stacks 50)" MiB - - -
done
figure_end
