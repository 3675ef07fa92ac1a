#!/bin/sh
# demo.sh - builds tally and asks each of the five interfaces a question: a recorded and a modelled PCIe trace (ptt), which settings
# would be better, who gets the processors of a POWER server (gpci), what a SPARC server's TLB misses cost (mmustat) and
# which memory it reads (vfalls), and at last which function of a program causes an event (cpc).
#
# Only the last needs privileges; the others ask a file that comes with the tests, and models.
#
# `brendan` has three functions that cause page faults as 5 to 3 to 2.  Each examples/brendan-*.d samples them and
# counts by function; the shares must be found within 10 %.  Exit 1: something went wrong, 4: not permitted here.
set -eu
cd "$(dirname "$0")"
tools/deps.sh build
mkdir -p build
make -j"$(nproc)" all progs >build/demo.log 2>&1 || { tail -n 40 build/demo.log; exit 1; }
PATH=$PWD/build:$PWD/build/prog:$PATH

title() { printf '\n== %s\n' "$*"; }
ask() { echo "\$ $*"; "$@"; }

title "ptt: what does a PCIe trace say?"
trace=test/fixture/ptt-8dw-golden.perf.data
echo "\$ tally report --top=5 $trace     # its middle"
tally report --top=5 "$trace" | sed -n '/^By requester/,/^Over time/p' | sed '$d'
ask tally dump --filter 'status != 0' "$trace"

title "ptt: record from the model of a Kunpeng server, and find a better setting"
event=hisi_ptt0_2/filter=00:10.0+00:11.0,type=p+np+cpl,direction=2/
ask tally record --on kunpeng,load=nvme -e "$event" --duration 20 -o build/demo.data
ask tally tune hisi_ptt0_2 --for throughput --on kunpeng,load=ingest

title "gpci: who gets the processors of a POWER server, and which link is full?"
ask tally stat --view partitions --on power,load=contended --count 1
echo "\$ tally stat --view links --on power,load=links --count 1     # the hottest"
tally stat --view links --on power,load=links --count 1 | head -n 5

title "mmustat: what do TLB misses cost a Niagara?"
echo "\$ tally stat -e mmustat/all/ --on niagara,load=chase -I 1 --count 1"
tally stat -e mmustat/all/ --on niagara,load=chase -I 1 --count 1

title "vfalls: do threads on different nodes of a Victoria Falls server fight for lines?"
ask tally trace --on batoka,load=pingpong -s examples/vfalls-sharing.d

title "cpc: which function causes the page faults?"
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
    tally trace -s "$script" -c "brendan $rounds" >build/demo.out || exit $?
    cat build/demo.out
    verdict build/demo.out && continue 2
    echo "    not within 10 %"
  done
  status=1
done
# The same question to a hardware counter, where there is one.
echo "\$ tally trace -s examples/hardware/brendan-cycles.d -c 'brendan 500000'"
if tally trace -e -s examples/hardware/brendan-cycles.d 2>build/demo.why; then
  tally trace -s examples/hardware/brendan-cycles.d -c 'brendan 500000' || status=1
else
  echo "    skipped: $(tail -n 1 build/demo.why)"
fi
[ $status -eq 0 ] && echo "The shares are right: the counts led to the functions that cause the faults."
cat <<'EOF'

Try next, with build/ in PATH:
  tally doctor                                    # what this machine can answer, and how to mend the rest
  tally stat -- ls -R /usr                        # count a command's events
  tally report build/demo.data -o build/demo.html # the recorded trace as a page for the browser
  tally list 'links*' --on power                  # find anything by name
  tally trace -n 'cpc:::cpu_clock-all-99hz { @[execname] = count(); } tick-5s { exit(0); }'
EOF
exit $status
