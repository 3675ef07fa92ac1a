#!/bin/sh
# picture.sh [-c] - draws the README's pictures, doc/report.png, doc/flame.png and doc/live.png, in a browser; -c: only whether they are of today's pages.
#
# The report is `tally report`'s of a model's trace, which is the same everywhere: doc/report.sha256 is its digest, so that a page
# that has changed is noticed without comparing pictures, whose fonts differ.  A flame graph is of a run, which differs each time: the
# picture shows build/prog/brendan (`make progs`), and doc/flame.sha256 is the digest of a page of the same form whose numbers a D program
# sets.  The live page has no numbers before its first event, so doc/live.sha256 is that of the page as it is sent; the picture shows half a minute of a
# program that counts brendan and dd. Without libmicrohttpd and curl it is not compared.  Exit 1: a page has changed; 3: there is no Chromium, or no BPF to draw the flame graph with.
set -eu
cd "$(dirname "$0")/.."
tally=${TALLY:-build/tally}
dir=$(mktemp -d)
served='' load=''
trap 'for p in $served $load; do kill "$p"; done; rm -rf "$dir"' EXIT
tally=$(realpath "$tally")
progs=$(realpath build/prog)
said() { cat "$dir/said" >&2; exit "$1"; }
(
  cd "$dir"
  "$tally" record --on kunpeng,load=nvme -e hisi_ptt0_2/filter=00:10.0,type=p+np+cpl,direction=2/ --duration 20 -o nvme.data 2>said
  "$tally" report -o nvme.html nvme.data 2>>said
  "$tally" trace --on batoka -qo same.html -n 'BEGIN { @["a", "x", stack()] = sum(3); @["b", "y", stack()] = sum(2); exit(0); }' 2>>said
) || said 1
# serve ARGUMENT...: a service, and $at.
serve() {
  "$tally" serve --listen 127.0.0.1:0 "$@" 2>"$dir/log" &
  served=$!
  until at=http://127.0.0.1:$(sed -n 's/.* on port //p' "$dir/log") && [ "$at" != http://127.0.0.1: ]; do kill -0 "$served" || { cat "$dir/log" >&2; exit 1; }; done
}
digest_live=
if ldconfig -p | grep -q libmicrohttpd.so.12 && command -v curl >/dev/null; then
  serve --on power --view partitions
  digest_live=$(curl -sf "$at/" | sha256sum | cut -d ' ' -f 1)
  kill "$served"
  served=
fi
digest_report=$(sha256sum <"$dir/nvme.html" | cut -d ' ' -f 1)
digest_flame=$(sha256sum <"$dir/same.html" | cut -d ' ' -f 1)
if [ "${1:-}" = -c ]; then
  [ "$digest_report" = "$(cat doc/report.sha256)" ] || { echo "picture.sh: the report's page has changed: make picture" >&2; exit 1; }
  [ "$digest_flame" = "$(cat doc/flame.sha256)" ] || { echo "picture.sh: the flame graph's page has changed: make picture" >&2; exit 1; }
  [ "${digest_live:-$(cat doc/live.sha256)}" = "$(cat doc/live.sha256)" ] || { echo "picture.sh: the live page has changed: make picture" >&2; exit 1; }
  exit 0
fi
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || { echo "picture.sh: no Chromium" >&2; exit 3; }
# draw NAME PAGE HIDDEN HEIGHT: doc/NAME.png is the page without what the CSS selector HIDDEN names.
draw() {
  sed "s|</head>|<style>$3 { display: none }</style></head>|" "$2" >"$dir/some.html"
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-background-networking --user-data-dir="$dir/profile" --hide-scrollbars \
    --virtual-time-budget=5000 --window-size=1000,"$4" --screenshot="$dir/$1.png" "file://$dir/some.html" >"$dir/said" 2>&1 && [ -s "$dir/$1.png" ] ||
    { tail -n 5 "$dir/said" >&2; exit 1; }
  cp "$dir/$1.png" "doc/$1.png"
}
(
  cd "$dir"
  "$tally" trace -qo flame.html -n 'cpc:::cpu_clock-all-1997hz /pid == $target/ { @[execname, ustack(), stack()] = count(); }' \
    -c "$progs/brendan 100000" 2>said
) || said 3
[ -n "$digest_live" ] || { echo "picture.sh: no libmicrohttpd, or no curl" >&2; exit 3; }
cat >"$dir/disk.d" <<'D'
/* Calls of read(), by program. */
syscall::read:entry /execname == "dd" || execname == "brendan"/ { self->began = timestamp; @reads[execname] = count(); }
/* How long they took. */
syscall::read:return /self->began/ { @read_ns = quantize(timestamp - self->began); self->began = 0; }
/* What brendan does, 997 times a second. */
cpc:::cpu_clock-all-997hz /execname == "brendan"/ { @where[ustack(), stack()] = count(); }
D
serve -s "$dir/disk.d" --history 1m
(trap 'exit 0' TERM
while :; do
  "$progs/brendan" 20000 >/dev/null
  dd if=/dev/zero of=/dev/null bs=64 count=100000 2>/dev/null
  dd if=/dev/zero of=/dev/null bs=1M count=500 2>/dev/null
done) &
load=$!
python3 test/lib/browser.py --size 1000x1180 "$at/" until 'Number(document.body.dataset.step) >= 20' until 'Number(document.body.dataset.step) >= 40' shot "$dir/live.png"
cp "$dir/live.png" doc/live.png
kill "$served" "$load"
served='' load=''
# Some of the report's parts: the two pictures over time.
shown=$(sed -n '/^<section id="s/{s/.*id="\(s[0-9]*\)".*/\1/;h;}; /^<h2>Over time\|^<h2>Latency over time/{g;s/.*/:not(#&)/;p;}' "$dir/nvme.html" | tr -d '\n')
draw report "$dir/nvme.html" "section$shown" 890
draw flame "$dir/flame.html" 'header, section:not(#s0), #s0 h2' 440
echo "$digest_report" >doc/report.sha256
echo "$digest_flame" >doc/flame.sha256
echo "$digest_live" >doc/live.sha256
