#!/usr/bin/env bats
# What the tutorials say is so: their commands run, in order, and print what stands there.

load common

B=${B:-build}

setup() {
  ROOT=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
  cd "$BATS_TEST_TMPDIR" || return 1
  PATH=$(realpath "$(dirname "$TALLY")"):$PROGS:$PATH
  # The source tree, in which what the commands write is gone afterwards.
  ln -s "$ROOT"/* .
  export B
}

page() { COLUMNS=80 "$ROOT/tools/transcript.sh" "${2:-$ROOT/doc/tutorial/$1.md}"; } # NAME [FILE]

# The page, with ports that nobody has in place of those that it names.
with_free_ports() { # FILE PORT...
  /usr/bin/python3 - "$@" <<'P'
import socket, sys
held, page = [], open(sys.argv[1]).read()
for port in sys.argv[2:]:
    held.append(socket.create_server(('127.0.0.1', 0)))
    page = page.replace(':' + port, ':' + str(held[-1].getsockname()[1]))
print(page, end='')
P
}

@test "the tutorial for performance engineers is true" { page cpu; }
@test "the tutorial for PCIe engineers is true" { page pcie; }
@test "the tutorial for administrators of servers is true" { page server; }
@test "the tutorial for authors of drivers and emulators is true" {
  export HOME=$BATS_TEST_TMPDIR
  page emulator
}
@test "the tutorial for fleets is true" {
  [ -x /usr/bin/python3 ] || skip "no python3"
  rm examples # its files name ports, too
  cp -R "$ROOT/examples" .
  with_free_ports "$ROOT/doc/tutorial/fleet.md" 7347 9090 >page.md
  sed -i "s/127.0.0.1:7347/$(grep -om1 'listen 127.0.0.1:[0-9]*' page.md | sed 's/.* //')/" examples/prometheus/tally-hosts.yml
  page fleet page.md
}

@test "the arithmetic of the page about fleets is right, and promtool takes its configuration" {
  [ -x /usr/bin/python3 ] || skip "no python3"
  /usr/bin/python3 - "$ROOT/doc/fleet.md" <<'P'
import re, sys
text = open(sys.argv[1]).read()
number = lambda s: float(s.replace(',', ''))
with_ = [number(v) for v in re.findall(r'^\| a s(?:eries|ample).*\| ([0-9,.]+) (?:bytes|us|KiB) \|$', text, re.M)]
answer, host_us, kib, us, disk = with_
series, every = number(re.search(r'host has ([0-9,]+) series', text)[1]), number(re.search(r'every (\d+) seconds', text)[1])
unit = {'kB/s': 1e3, 'MB/s': 1e6, 'MB': 1e6, 'GB': 1e9, 'TB': 1e12, 'MiB': 2**20, 'GiB': 2**30}
def said(cell): # its value, and the half of its last digit
    n, _, u = cell.partition(' ')
    digits = len(n.partition('.')[2])
    return number(n) * unit.get(u, 1), 0.51 * 10**-digits * unit.get(u, 1)
rows = [[c.strip() for c in line.strip('|').split('|')] for line in re.findall(r'^\| [0-9,]+ \|.*$', text, re.M)]
assert len(rows) == 4
for row in rows:
    hosts = number(row[0])
    samples = hosts * series / every
    for cell, truth in zip(row[1:], [hosts * series, samples, hosts * series * kib * 1024, samples * us / 1e6, samples * answer, samples * disk * 86400]):
        value, half = said(cell)
        assert abs(value - truth) <= half, (row[0], cell, truth)
assert f'{series * host_us / 1000:.2f} ms' in text and f'{series * host_us / every / 1e4:.4f} %' in text
assert f'{samples * disk * 86400 * 30 / 1e12:.1f} TB' in text
limits = re.findall(r'"<= (\d+)"$', open(sys.argv[1].replace('doc/fleet.md', 'bench/fleet.sh')).read(), re.M)
assert [float(n) for n in limits] == [kib, us]
P
  command -v promtool >/dev/null || return 0
  sed -n '/^```yaml/,/^```/{/^```/d;p;}' "$ROOT/doc/fleet.md" >page.yml
  promtool check config page.yml
}

@test "each tutorial is run, and says how its programs come into the path" {
  for file in "$ROOT"/doc/tutorial/*.md; do
    grep -qw "page $(basename "$file" .md)" "$BATS_TEST_FILENAME" || { echo "$file"; return 1; }
    grep -qF 'make all progs && PATH=$PWD/build:$PWD/build/prog:$PATH' "$file" || { echo "$file: no PATH"; return 1; }
  done
  for command in tally brendan; do command -v $command; done
}

@test "commands of the tutorials fit 80 columns" {
  ! awk 'FNR == 1 { more = 0 } /^\$ / || more { if (length > 80) print FILENAME ": " $0; more = /\\$/ }' "$ROOT"/doc/tutorial/*.md | grep .
}

@test "in the manual only what stands below OPTIONS is a tagged option" {
  printf '%s\n' '# tally x - y' '## THINGS' '- `-p`: told' '- `-t`, `-u`: too' '## OPTIONS' '- `-p PID`: taken' '## MORE' '- `-z`: last' |
    awk -v page=x -v version=1 -f "$ROOT/tools/md2man.awk" >page.1
  [ "$(grep -c '^\.TP' page.1)" -eq 1 ]
  grep -A1 '^\.TP' page.1 | grep -qF 'PID'
  [ "$(grep -c '^\.IP' page.1)" -eq 3 ]
}

@test "a tutorial that says something else is found out" {
  printf '```console\n$ echo one\ntwo\n```\n' >page.md
  run "$ROOT/tools/transcript.sh" page.md
  [ "$status" -eq 1 ]
  printf '```console\n$ printf "a\\nb\\nc\\n"\na\n...\nc\n```\n' >page.md
  "$ROOT/tools/transcript.sh" page.md
  printf '```console\n$ false\n```\n' >page.md
  run "$ROOT/tools/transcript.sh" page.md
  [ "$status" -eq 1 ]
}
