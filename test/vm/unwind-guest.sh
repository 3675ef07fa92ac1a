# unwind-guest.sh - what is checked in the guest of unwind.sh, by busybox sh; speaks TAP.
. ./tap.sh
echo "# $(uname -srm)"
faults='cpc:::page_faults-user-1 /pid == $target/'

# until_says FILE TEXT PID
until_says() { until grep -q -- "$2" "$1" 2>/dev/null; do kill -0 "$3" 2>/dev/null || return 1; done; }
until_stopped() { until grep -q '^State:.T' "/proc/$1/status" 2>/dev/null; do kill -0 "$1" || return 1; done; }
trace() { tally trace -q -x dcpc_min_overflow=1 -x switchrate=10ms -x ustackunwind=dwarf "$@"; }

# traced FAULTS CLAUSES ARGUMENT...: /tmp/said is what the clauses say of unframed, a stack on a line, its count at the end.
traced() {
  local count=$1 clauses=$2 child tracer
  shift 2
  rm -f /tmp/out
  unframed "$count" 1000000 "$@" & child=$!
  until_stopped $child
  trace -p $child -n "BEGIN { printf(\"ready\\n\"); } $clauses" >/tmp/out 2>/tmp/err & tracer=$!
  until_says /tmp/out ready $tracer || { kill -KILL $child; cat /tmp/err; return 1; }
  kill -CONT $child
  wait $tracer
  awk 'NF { sub(/^ +/, ""); s = s " " $0; next } s { print s; s = "" } END { if (s) print s }' /tmp/out | sed -E 's/\+0x[0-9a-f]+//g' >/tmp/said
}
sum_of() { grep -E "$1" /tmp/said | awk '{ n += $NF } END { print n + 0 }'; }

symbol_unwind_test >/tmp/said 2>&1
check $? "tables of this machine's C library and vDSO" "$(cat /tmp/said)"

# libc is stripped: only what it exports has a name.
in_order='^ unframed`touch_page unframed`compare libc[^ ]* (libc[^ ]* )*unframed`sort_some( unframed`spread)+ unframed`main libc[^ ]* libc[^ ]* unframed`_start [0-9]+$'
on_signal='^ unframed`touch_page unframed`in_handler unframed`handler [^ ]+ .*unframed`main libc[^ ]* libc[^ ]* unframed`_start [0-9]+$'
# A signal that interrupts an entry of the PLT, for which arm64's linker writes no table, gives a stack that says that it was cut.
for how in "" other; do
  traced 3000 "$faults { @[ustack()] = count(); }" $how
  wrong=$(grep touch_page /tmp/said | grep -vE "$in_order|$on_signal" | head -n 5)
  all=$(sum_of '^ unframed`touch_page ') in=$(sum_of "$in_order") on=$(sum_of "$on_signal")
  [ "$all" -ge 2990 ] && [ "$on" -ge 20 ] && [ $((in + on)) -ge $((all - 3)) ] && [ -z "$(printf '%s' "$wrong" | grep -v truncated)" ]
  check $? "each stack is its chain of calls, through libc and signal handlers${how:+ on a stack of their own}: $in and $on of $all" "$wrong
$(cat /tmp/err)"
done
traced 1000 "$faults { @[ustack()] = count(); }" vdso
cut=$(sum_of '^ [^ ]*vdso[^ ]* [^ ]*truncated[^ ]* [0-9]+$')
[ "$cut" -ge 950 ]
check $? "the vDSO has no tables on arm64, and a stack from within it says that it was cut: $cut of 1000" "$(head -n 5 /tmp/said)"

# libdwfl of Debian 12 loses its way at a signal handler of arm64, since the vDSO's code that handlers return to has no entry: what it says up to
# there is compared.
mkfifo /tmp/go
unwound unframed 10000 500 </tmp/go >/tmp/truth 2>/tmp/lost & unwound=$!
exec 7>/tmp/go
until_says /tmp/truth pid $unwound
child=$(awk '{ print $2; exit }' /tmp/truth)
vdso=$(awk '/\[vdso\]/ { print $1; exit }' /proc/$child/maps)
trace -x noresolve -p "$child" -n "BEGIN { printf(\"ready\\n\"); } $faults { printf(\"at %x\", arg2); ustack(64); }" >/tmp/ours 2>/tmp/err & tracer=$!
until_says /tmp/ours ready $tracer
echo >&7
exec 7>&-
wait $unwound
wait $tracer
said=$(awk -v vdso="$vdso" '
  function add(s, pc) { # nothing behind the vDSO
    if (match(s, / \|$/)) return s
    return s " " pc (pc "" > "" v[1] && pc "" < "" v[2] ? " |" : "")
  }
  function close_stack() { if (at != "") ours[at] = frames }
  BEGIN { split(vdso, v, "-") }
  FNR == NR { if ($1 == "at") { s = ""; for (i = 3; i <= NF; i++) s = add(s, $i); truth[$2] = s } next }
  $1 == "at" { close_stack(); at = $2; frames = ""; next }
  NF { sub(/^0x/, "", $1); frames = add(frames, $1) }
  END {
    close_stack()
    for (k in ours) if (k in truth) { n++; if (ours[k] == truth[k]) same++; else if (shown++ < 5) print "at " k "\n  libdwfl" truth[k] "\n  tally  " ours[k] }
    print same + 0 " of " n + 0
    exit !(n >= 9900 && same >= 0.99 * n)
  }' /tmp/truth /tmp/ours)
check $? "at least 99 of 100 stacks are libdwfl's: $(printf '%s\n' "$said" | tail -n 1)" "$said
$(cat /tmp/lost /tmp/err)"
plan
