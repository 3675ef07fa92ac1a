# service.bash - what the tests of `tally serve` share, behind common.bash.

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }
# What still runs ends well when it is told to. A test that ended the service itself has emptied $server.
teardown() {
  [ -z "${collector:-}" ] || ends_with 0 "$collector" kill "$collector"
  [ -z "${prom:-}" ] || ends_with 0 "$prom" kill "$prom"
  [ -z "${server:-}" ] || ends_with 0 "$server" kill "$server"
}

needs_http() {
  needs_bpf
  command -v curl >/dev/null || skip "no curl"
  ldconfig -p | grep -q libmicrohttpd.so.12 || skip "no libmicrohttpd"
}

# So many calls of read() from its descriptor 0, by a program that no other test runs, be it at the same time.
read_calls() {
  [ -x serve-reader ] || cp "$(command -v dd)" serve-reader
  ./serve-reader if=/dev/zero of=/dev/null bs=1 count="$1" 2>/dev/null
}

# Starts a service on a port of its own, or at $listen, and waits until it says so: $server, $at.
serve() { # ARGUMENTS...
  "$TALLY" serve --listen "${listen:-127.0.0.1:0}" "$@" 2>log &
  server=$!
  until_log 'on port [0-9]+$'
  at=http://127.0.0.1:$(sed -n 's/.* on port //p' log)
}

metrics() { curl -sf "$@" "$at/metrics"; } # OPTION of curl...

until_log() { # PATTERN
  for _ in $(seq 100000); do
    ! grep -qE "$1" log || return 0
    kill -0 "$server" 2>/dev/null || break
  done
  cat log
  return 1
}
