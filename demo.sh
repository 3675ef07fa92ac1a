#!/bin/sh
# demo.sh - builds tally and lets it answer the questions it is for: what does a PCIe trace say, which settings would be
# better, and which function of a program causes an event?
#
# The first trace is a short recording that comes with the tests, the second one is recorded from the model of a Kunpeng server
# that is in tally; no privilege is needed for either.
#
# `brendan` has three functions that cause page faults as 5 to 3 to 2.  Each examples/brendan-*.d samples them and
# counts by function; the shares must be found within 10 %.  Exit 1: something went wrong, 4: not permitted here.
set -eu
cd "$(dirname "$0")"
tools/deps.sh build
mkdir -p build
make -j"$(nproc)" all progs >build/demo.log 2>&1 || { tail -n 40 build/demo.log; exit 1; }

trace=test/fixture/ptt-8dw-golden.perf.data
echo "\$ tally report --top=5 $trace"
build/tally report --top=5 "$trace"
echo "\$ tally dump --filter 'status != 0' $trace     # completions that failed"
build/tally dump --filter 'status != 0' "$trace"

event=hisi_ptt0_2/filter=00:10.0+00:11.0,type=p+np+cpl,direction=2/
echo "\$ tally record --on kunpeng,load=nvme -e $event --duration 20 -o build/demo.data"
build/tally record --on kunpeng,load=nvme -e "$event" --duration 20 -o build/demo.data
echo "\$ tally report --top=5 build/demo.data     # its beginning"
build/tally report --top=5 build/demo.data | sed '/^By completer/,$d'
echo "\$ tally tune hisi_ptt0_2 --for throughput --on kunpeng,load=ingest"
build/tally tune hisi_ptt0_2 --for throughput --on kunpeng,load=ingest

# Shares by function from an aggregation over ufunc(), against 5 : 3 : 2.
verdict() {
  awk '
    match($1, /`func_[a-z]+/) { n[substr($1, RSTART + 1, RLENGTH - 1)] = $2 }
    function near(name, want,   is) {
      is = all ? n[name] / all : 0
      printf "    %-12s %5.1f %% of the faults, expected %2.0f %%\n", name, is * 100, want * 100
      if (is < want * 0.9 || is > want * 1.1) bad = 1
    }
    END {
      all = n["func_alpha"] + n["func_beta"] + n["func_gamma"]
      near("func_alpha", .5); near("func_beta", .3); near("func_gamma", .2)
      exit bad
    }' "$1"
}

# Others fault too, and each fault of theirs moves the next sample: on a busy machine more of them are needed.
status=0
for script in examples/brendan-*.d; do
  for rounds in 500000 2000000; do
    echo "\$ tally trace -s $script -c 'brendan $rounds'"
    build/tally trace -s "$script" -c "build/prog/brendan $rounds" >build/demo.out || exit $?
    cat build/demo.out
    verdict build/demo.out && continue 2
    echo "    not within 10 %"
  done
  status=1
done
# The same question to a hardware counter, where there is one.
echo "\$ tally trace -s examples/hardware/brendan-cycles.d -c 'brendan 500000'"
if build/tally trace -e -s examples/hardware/brendan-cycles.d 2>build/demo.why; then
  build/tally trace -s examples/hardware/brendan-cycles.d -c 'build/prog/brendan 500000' || status=1
else
  echo "    skipped: $(tail -n 1 build/demo.why)"
fi
[ $status -eq 0 ] && echo "The shares are right: the counts led to the functions that cause the faults."
exit $status
