#!/usr/bin/env bats
# tally serve --push: profiles that are sent to a server. A stand-in for Pyroscope keeps what it got.

bats_require_minimum_version 1.5.0
load common
load service

needs_push() {
  needs_http
  command -v python3 >/dev/null || skip "no python3"
  ldconfig -p | grep -q 'libcurl.so.4 ' || skip "no libcurl"
}

# keep [PORT]: a server that takes POST /ingest: $pyroscope, $push. got/N.query is the N-th request's, one parameter a line, got/N.body its body. The
# file `answer` has the status that it answers with (200 without it), "silence" for none.
keep() {
  mkdir -p got
  cat >keep.py <<'P'
import http.server, os, sys, threading, urllib.parse
class Keep(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    lock, n = threading.Lock(), len(os.listdir('got')) // 2
    def log_message(self, *_): pass
    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        answer = open('answer').read().strip() if os.path.exists('answer') else '200'
        url = urllib.parse.urlsplit(self.path)
        with Keep.lock:
            if url.path != '/ingest':
                answer = '404'
            print(answer, flush=True)
            if answer == 'silence':
                threading.Event().wait()
            if answer == '200':
                Keep.n += 1
                open(f'got/{Keep.n}.body', 'wb').write(body)
                open(f'got/{Keep.n}.query', 'w').write(''.join(f'{k}={v}\n' for k, v in urllib.parse.parse_qsl(url.query, strict_parsing=True)))
        words = b'too bad: so it is\nmore\n' if answer != '200' else b''
        self.send_response(int(answer))
        self.send_header('Content-Length', str(len(words)))
        self.end_headers()
        self.wfile.write(words)
server = http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Keep)
server.daemon_threads = True
open('port', 'w').write(str(server.server_port))
print('ready', flush=True)
server.serve_forever()
P
  python3 keep.py "${1:-0}" >kept &
  pyroscope=$!
  until_kept ready
  push=http://127.0.0.1:$(cat port)
}
until_kept() { # LINE
  for _ in $(seq 100000); do
    ! grep -qx -- "$1" kept || return 0
    kill -0 "$pyroscope" || break
  done
  cat kept log
  return 1
}
gone() { ends_with "${1:-143}" "$pyroscope" kill "$pyroscope"; pyroscope=; }
teardown() {
  [ -z "${server:-}" ] || ends_with 0 "$server" kill "$server"
  [ -z "${pyroscope:-}" ] || gone
}

value() { curl -sf "$at/metrics" | sed -n "s/^$1 //p"; } # SERIES
until_value() { # SERIES NUMBER
  for _ in $(seq 20000); do
    [ "$(value "$1")" != "$2" ] || return 0
    kill -0 "$server" || break
  done
  echo "$1 is $(value "$1"), not $2"
  cat log
  return 1
}

# All profiles that came, as one: folded stacks, sorted.
kept_in_all() { cat got/*.body | awk '{ n = $NF; sub(/ [0-9]+$/, ""); sum[$0] += n } END { for (s in sum) print s, sum[s] }' | LC_ALL=C sort; }
folded() { curl -sf "$at/folded?program=$1&aggregation=$2" ; } # PROGRAM AGGREGATION

reads_program() { echo 'syscall::read:entry /execname == "serve-reader" && arg0 == 0/ { @reads[execname, ustack()] = count(); }' >reads.d; }
reloads() { awk '/^tally: reloaded/ { n++ } END { print n + 0 }' log; }
# Has what was counted read at once.
read_now() {
  local n
  n=$(reloads)
  kill -HUP "$server"
  until [ "$(reloads)" -gt "$n" ]; do kill -0 "$server" || return 1; done
}

@test "a profile of each aggregation with stacks is sent, and has byte for byte what /folded has" {
  needs_push
  echo 'BEGIN { @stacks["a", stack()] = count(); @bytes[stack()] = sum(4096); @plain = count(); @[stack(2)] = count(); }' >known.d
  keep
  before=$(date +%s)
  serve --push "$push/ingest" --push-every 1s --push-format folded -s known.d
  until_value tally_profiles_pushed_total 3
  after=$(date +%s)
  folded known stacks >stacks
  folded known bytes >bytes
  curl -sf "$at/folded?program=known&aggregation=" >unnamed
  [ -s stacks ] && [ -s bytes ] && [ -s unnamed ]
  host=$(hostname | sed 's/[^A-Za-z0-9-]/_/g')
  declare -A of=([stacks]=stacks [bytes]=bytes [count]=unnamed)
  for query in got/*.query; do
    name=$(sed -n "s/^name=tally-known{aggregation=\(.*\),hostname=$host}$/\1/p" "$query")
    cmp "${of[$name]}" "${query%.query}.body"
    from=$(sed -n 's/^from=//p' "$query") until=$(sed -n 's/^until=//p' "$query")
    [ "$before" -le "$from" ] && [ "$from" -le "$until" ] && [ "$until" -le "$after" ]
    units=samples
    [ "$name" != bytes ] || units=bytes
    printf '%s\n' format=folded spyName=tally "units=$units" aggregationType=sum | diff - <(grep -vE '^(name|from|until)=' "$query")
  done
  [ "$(ls got/*.query | wc -l)" -eq 3 ]
  [ "$(value tally_push_tries_total)" -eq 3 ] # nothing more was counted, so nothing more is sent
}

@test "a profile of pprof is what is sent unless said, with what was counted since the one before" {
  needs_push
  python3 -c 'import gzip' || skip "no gzip of python3"
  reads_program
  keep
  serve --push "$push" --push-every 1h -s reads.d
  read_calls 100
  read_now
  until_value tally_profiles_pushed_total 1
  read_calls 23
  read_now
  until_value tally_profiles_pushed_total 2
  grep -qx format=pprof got/2.query
  python3 - <<'P'
import gzip
def fields(b):
    at = 0
    def varint():
        nonlocal at
        v = shift = 0
        while True:
            c = b[at]; at += 1
            v |= (c & 127) << shift; shift += 7
            if c < 128: return v
    while at < len(b):
        key = varint()
        if key & 7 == 0: yield key >> 3, varint()
        else:
            n = varint(); yield key >> 3, b[at:at + n]; at += n
def profile(name):
    top = list(fields(gzip.decompress(open(name, 'rb').read())))
    strings = [v.decode() for k, v in top if k == 6]
    (kind,) = [dict(fields(v)) for k, v in top if k == 1]
    total = sum(b[0] if len(b) == 1 else (b[0] & 127) | b[1] << 7 for k, v in top if k == 2 for f, b in fields(v) if f == 2)
    when = dict((k, v) for k, v in top if k in (9, 10))
    return strings[kind[1]], total, when[9], when[10]
(one, a, began, lasted), (two, b, began2, _) = profile('got/1.body'), profile('got/2.body')
assert (one, two) == ('reads', 'reads') and (a, b) == (100, 23), (one, a, two, b)
assert began + lasted == began2
P
}

@test "the server is gone and comes back: all that was counted reaches it, and while it is gone that is told" {
  needs_push
  reads_program
  keep
  port=$(cat port)
  serve --push "$push" --push-every 1s --push-format folded -s reads.d
  read_calls 100
  until_value tally_profiles_pushed_total 1
  gone
  read_calls 20
  until_log 'push: the server does not take profiles: .*connect'
  curl -sf "$at/status" | grep -q '"push":{"pushed":1,"refused":0,"dropped":0,"waiting":[1-9][0-9]*,"stacks_left_out":0,"reason":"[^"]*connect'
  read_calls 3
  keep "$port"
  until_log 'push: the server takes profiles again'
  until_value tally_profiles_waiting 0
  curl -sf "$at/status" | grep -q '"waiting":0,"stacks_left_out":0,"reason":""}'
  read_calls 4000
  folded reads reads >all # the last ones are sent when the service ends
  ends_with 0 "$server" kill "$server"
  server=
  [ "$(awk '{ n += $NF } END { print n }' all)" -eq 4123 ]
  cmp <(LC_ALL=C sort all) <(kept_in_all)
}

@test "a server that has too much to do gets the same profile again; what it refuses is counted as lost" {
  needs_push
  reads_program
  keep
  echo 503 >answer
  serve --push "$push" --push-every 1h --push-format folded -s reads.d
  read_calls 100
  read_now
  until_kept 503
  until_log 'push: the server does not take profiles: HTTP 503: too bad: so it is$'
  rm answer
  until_value tally_profiles_pushed_total 1
  folded reads reads | cmp - got/1.body
  [ "$(value tally_push_tries_total)" -ge 2 ]
  echo 422 >answer
  read_calls 20
  read_now
  until_value 'tally_profiles_lost_total{cause="refused"}' 1
  rm answer
  read_calls 3
  read_now
  until_value tally_profiles_pushed_total 2
  [ "$(awk '{ n += $NF } END { print n }' got/2.body)" -eq 3 ]
  [ "$(value 'tally_profiles_lost_total{cause="queue"}')" -eq 0 ]
}

@test "more than 256 profiles do not wait: the oldest are lost, and counted" {
  needs_push
  reads_program
  keep
  port=$(cat port)
  gone
  serve --push "$push" --push-every 1h --push-format folded -s reads.d
  for i in $(seq 300); do
    read_calls "$i"
    read_now
  done
  lost=$(value 'tally_profiles_lost_total{cause="queue"}')
  [ "$lost" -eq 44 ]
  [ "$(value tally_profiles_waiting)" -eq 256 ]
  keep "$port"
  ends_with 0 "$server" kill "$server"
  server=
  late=$(sed -n 's/.*push: \([0-9]*\) profiles\{0,1\} did not reach the server.*/\1/p' log)
  awk '{ print $NF }' got/*.body | sort -n >came # each is the number of one turn
  [ "$(wc -l <came)" -eq $((256 - ${late:-0})) ]
  [ -z "$(uniq -d came)" ]
  [ "$(awk '$1 <= 44' came | wc -l)" -le 1 ] # that was on its way when there was no room
}

@test "a server that is silent holds nothing up, and what it did not take is told at the end" {
  needs_push
  reads_program
  keep
  echo silence >answer
  serve --push "$push" --push-every 1h --push-format folded -s reads.d
  read_calls 100
  read_now
  until_kept silence
  read_calls 23
  [ "$(value 'tally_reads_total{.*')" = "" ] # stacks are no metric
  [ "$(folded reads reads | awk '{ n += $NF } END { print n }')" -eq 123 ]
  ends_with 0 "$server" kill "$server"
  server=
  grep -q 'push: 2 profiles did not reach the server and are lost$' log
  gone
}

@test "a URL that is none, and one with a password, are refused" {
  echo 'BEGIN { @n = count(); }' >known.d
  for url in localhost:4040 ftp://x http:// 'http://x/?a=b'; do
    run "$TALLY" serve -s known.d --push "$url"
    said 2 "tally: --push: invalid URL '$url' (expected http:// or https:// and the server, such as http://127.0.0.1:4040)"
  done
  run "$TALLY" serve -s known.d --push http://me:secret@x:4040
  said 2 "tally: --push: a URL with a user is seen by all who list processes; put user and password into ~/.netrc"
  run "$TALLY" serve -s known.d --push-every 0
  said 2 "tally: --push-every: invalid time '0' (expected 1s to 24h, such as 15s or 1m)"
  run "$TALLY" serve -s known.d --push-format svg
  said 2 "tally: --push-format: unknown format 'svg' (expected pprof or folded)"
  for option in "--push-every 1m" "--push-format pprof" "--archive-every 1m"; do
    run "$TALLY" serve -s known.d $option
    has "${option% *} requires ${option%-* *}"
    [ "$status" -eq 2 ]
  done
}
