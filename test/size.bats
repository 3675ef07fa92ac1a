#!/usr/bin/env bats
# Scripts that are large to the kernel: long strings, many clauses, large clauses.
bats_require_minimum_version 1.5.0
load common

# Twelve clauses, 1,068 bytes: the verifier walked a million instructions in them, for six seconds.
@test "twelve clauses of index, dirname and basename are not too large for the kernel" {
  needs_bpf
  script='BEGIN { s = "/usr/lib/x"; t = "lib"; }'
  for n in $(seq 12); do
    script+=" BEGIN /s == t || index(s,t) > $n/ { n++; @[dirname(s), basename(s)] = count(); }"
  done
  run "$TALLY" trace -q -n "$script BEGIN { printf(\"%d\\n\", n); exit(0); }"
  has $'4\n'
  has '/usr/lib '
}

@test "index of strings of 1024 bytes, eight times in one clause, is not too large for the kernel" {
  needs_bpf
  script='BEGIN { s = "aab"; t = "ab"; }'
  run "$TALLY" trace -q -x strsize=1024 -n "$script BEGIN { $(for n in $(seq 8); do printf 'n += index(s, t);'; done) printf(\"%d\\n\", n); exit(0); }"
  said 0 $'8'
}

# 400 clauses in one program were too large for the compiler; fewer, with divisions, for the kernel alone.
@test "400 clauses of a probe are not too large: this->, ERROR and exit go on across its parts, in kernel and vm" {
  needs_bpf
  {
    echo 'this int sum; this string s; int zero; int x; int errors; int never; int n; ERROR { errors++; }'
    for i in $(seq 0 399); do
      if [ $((i % 50)) -eq 7 ]; then echo 'BEGIN { x = 1 / zero; never++; }'
      elif [ $((i % 40)) -eq 3 ]; then echo 'BEGIN { this->s = strjoin(this->s, "3"); }'
      else echo "BEGIN /strlen(this->s) < 100/ { this->sum += $i; @[basename(this->s), $((i % 7))] = count(); n++; }"
      fi
    done
    echo 'BEGIN { printf("sum %d n %d errors %d never %d s %s\n", this->sum, n, errors, never, this->s); exit(3); }'
    echo 'BEGIN { printf("behind exit"); }'
  } >"$BATS_TEST_TMPDIR/many.d"
  run -3 "$TALLY" trace -q -s "$BATS_TEST_TMPDIR/many.d"
  has 'sum 76514 n 382 errors 8 never 0 s 3333333333'
  kernel=$output
  run -3 "$TALLY" trace --on=vm -q -s "$BATS_TEST_TMPDIR/many.d"
  [ "$output" = "$kernel" ]
  run "$TALLY" trace --dump=bpf -s "$BATS_TEST_TMPDIR/many.d"
  has 'part 1, BEGIN:'
}

@test "more maps than a program may name are not too many for the clauses of a probe" {
  needs_bpf
  script=
  for n in $(seq 90); do script+=" BEGIN { @a$n = count(); }"; done
  run "$TALLY" trace -q -n "$script BEGIN { exit(0); }"
  [ "$status" -eq 0 ]
}

@test "a clause whose keys fit is not refused for the scratch memory that index() of another clause needs" {
  needs_bpf
  run "$TALLY" trace -q -x strsize=4096 -n 'string s, t; int n; BEGIN { s = "abc"; t = "c"; @[s, t, s, t] = count(); } BEGIN { n = index(s, t); printf("%d", n); exit(0); }'
  [ "$status" -eq 0 ]
  has 2
}

@test "the refusal for want of scratch memory adds up, and names frames and other clauses only where there are some" {
  adds_up() {
    [ "$status" -eq 3 ]
    numbers=($(sed -n 's/.*needs \([0-9]*\) bytes.* allows [0-9]*:\(.*\)/\1 \2/p' <<<"$output" | grep -oE '[0-9]+'))
    sum=0
    for n in "${numbers[@]:1}"; do sum=$((sum + n)); done
    [ "$sum" -eq "${numbers[0]}" ]
  }
  run "$TALLY" trace --on=vm -q -x strsize=4096 -n 'string s, t; int n; BEGIN { n = 1; }
    BEGIN { n = index(s, t); @[s, t, s] = count(); @a[t, s, t] = count(); exit(0); }'
  has "line 2: this clause needs"
  has "for string functions"
  [[ $output != *frames* && $output != *"other clauses"* ]] || { echo "$output"; return 1; }
  adds_up
  run "$TALLY" trace --on=vm -q -x strsize=4096 -n 'string s, t; int n; BEGIN { n = index(s, t); @[stack(), s, t, s] = count(); exit(0); }'
  has "for the frames of a stack"
  has "lower strsize or the number of frames"
  adds_up
}

@test "the refusal for want of scratch memory names structs, and strsize only where there are strings" {
  structs='struct big { char a[4000]; int b[4000]; }; struct big g; struct big h; this struct big l; struct big a[int]; BEGIN { h = g; this->l = h; a[1] = h; exit(0); }'
  run "$TALLY" trace --on=vm -q -n "$structs"
  [ "$status" -eq 3 ]
  has "for its own structs, keys and records"
  has "lower the size of structs, or divide the clause, or use fewer of those variables"
  [[ $output != *str[is]* ]] || { echo "$output"; return 1; }
  run "$TALLY" trace --on=vm -q -n "$structs BEGIN { trace(execname); }"
  [ "$status" -eq 3 ]
  has "for its own strings, structs, keys and records"
  has "lower strsize, or divide the clause"
}

@test "the clauses of a probe that are too many name the first for which there is no program, and those before it run" {
  for n in $(seq 2500); do echo "BEGIN { @q$n = quantize(arg0); }"; done >"$BATS_TEST_TMPDIR/many.d"
  run "$TALLY" trace --on=vm -q -s "$BATS_TEST_TMPDIR/many.d"
  [ "$status" -eq 3 ]
  has "the 2500 clauses of BEGIN are too large for the kernel together"
  has "leave some out, or run them as a second trace"
  line=$(sed -n 's/^tally: line \([0-9]*\): .*/\1/p' <<<"$output")
  [ "$line" -gt 34 ] && [ "$line" -lt 2500 ]
  { head -n $((line - 1)) "$BATS_TEST_TMPDIR/many.d"; echo 'BEGIN { exit(0); }'; } >"$BATS_TEST_TMPDIR/fits.d"
  run "$TALLY" trace --on=vm -q -s "$BATS_TEST_TMPDIR/fits.d"
  [ "$status" -eq 0 ]
}

@test "a clause of more maps than a program has says what to do" {
  run "$TALLY" trace --on=vm -q -n "BEGIN { $(for n in $(seq 70); do echo "@a$n = count();"; done) exit(0); }"
  [ "$status" -eq 3 ]
  has "and four of our own: divide the clause into several"
}

@test "this-> variables that are more than scratch memory are refused with their share, and do not crash tally" {
  script=
  for n in $(seq 9); do script+="this string s$n; "; done
  run "$TALLY" trace --on=vm -q -x strsize=4096 -n "$script BEGIN { $(for n in $(seq 9); do printf 'this->s%d = execname; ' "$n"; done) exit(0); }"
  [ "$status" -eq 3 ]
  has "for the this-> variables of all clauses"
}

# N divisions in one clause.
divisions() {
  echo 'BEGIN { x = 5; y = 3; }'
  echo "BEGIN /x > 0/ {"; for n in $(seq "$1"); do echo "z += x / (y + $n);"; done; echo 'exit(0); }'
}

# The kernel's tests of 780 divisors lay within its jumps: it refused the program after a second.
@test "a clause that is too large is refused before the load, with its line" {
  needs_bpf
  divisions 780 >"$BATS_TEST_TMPDIR/large.d"
  run -3 "$TALLY" trace -q -s "$BATS_TEST_TMPDIR/large.d"
  has 'line 2: this clause is too large for the kernel: more than 16384 operations, 65535 instructions or 8000 branches: divide it into several'
}

@test "a clause of as many divisions as the kernel takes is not refused before the load" {
  needs_bpf
  divisions 778 >"$BATS_TEST_TMPDIR/fits.d"
  run "$TALLY" trace -q -s "$BATS_TEST_TMPDIR/fits.d"
  said 0 ""
}

@test "a clause that is too large by far is refused in the words and with the status of one that is too large by little" {
  needs_bpf
  divisions 1000 >"$BATS_TEST_TMPDIR/little.d"
  divisions 20000 >"$BATS_TEST_TMPDIR/far.d"
  run "$TALLY" trace -q -s "$BATS_TEST_TMPDIR/little.d"
  said 3 "tally: line 2: this clause is too large for the kernel: more than 16384 operations, 65535 instructions or 8000 branches: divide it into several"
  run "$TALLY" trace -q -s "$BATS_TEST_TMPDIR/far.d"
  said 3 "tally: line 2: this clause is too large for the kernel: more than 16384 operations, 65535 instructions or 8000 branches: divide it into several"
}

# The signals come early, when the verifier's walk would begin anew; or even before somebody waits for them (status 130).
@test "an interrupt in a slow load takes effect at once and not after the load, and its reason is true" {
  needs_bpf
  { echo 'string s, t; int x; BEGIN { s = "/usr/lib/x"; t = "lib"; }'
    for n in $(seq 40); do echo 'BEGIN /s != t/ { x += strlen(s) + strlen(t) + (s < t); }'; done
    echo 'BEGIN { printf("ran\n"); exit(0); }'; } >"$BATS_TEST_TMPDIR/slow.d"
  for wait in 0.01 0.02 0.03 0.04; do
    run timeout -s INT --preserve-status $wait "$TALLY" trace -q -x strsize=4096 -s "$BATS_TEST_TMPDIR/slow.d"
    [[ $status -eq 130 || ($status -eq 1 && $output == "tally: interrupted: a signal came while the kernel checked program BEGIN") ]] ||
      { echo "$status: $output"; return 1; }
  done
}
