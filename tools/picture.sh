#!/bin/sh
# picture.sh [-c] - draws doc/report.png, the README's picture of a report, in a browser; -c: only whether it is of today's page.
#
# The page is `tally report`'s of a model's trace, which is the same everywhere: doc/report.sha256 is its digest, so that a page
# that has changed is noticed without comparing pictures, whose fonts differ.  Exit 1: it has changed; 3: there is no Chromium.
set -eu
cd "$(dirname "$0")/.."
tally=${TALLY:-build/tally}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tally=$(realpath "$tally")
(
  cd "$dir"
  "$tally" record --on kunpeng,load=nvme -e hisi_ptt0_2/filter=00:10.0,type=p+np+cpl,direction=2/ --duration 20 -o nvme.data 2>said
  "$tally" report -o nvme.html nvme.data 2>>said
) || { cat "$dir/said" >&2; exit 1; }
digest=$(sha256sum <"$dir/nvme.html" | cut -d ' ' -f 1)
if [ "${1:-}" = -c ]; then
  [ "$digest" = "$(cat doc/report.sha256)" ] || { echo "picture.sh: the report's page has changed: make picture" >&2; exit 1; }
  exit 0
fi
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || { echo "picture.sh: no Chromium" >&2; exit 3; }
# Some of its parts: the two pictures over time.
shown=$(sed -n '/^<section id="s/{s/.*id="\(s[0-9]*\)".*/\1/;h;}; /^<h2>Over time\|^<h2>Latency over time/{g;s/.*/:not(#&)/;p;}' "$dir/nvme.html" | tr -d '\n')
sed "s|</head>|<style>section$shown { display: none }</style></head>|" "$dir/nvme.html" >"$dir/some.html"
timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-background-networking --user-data-dir="$dir/profile" --hide-scrollbars \
  --virtual-time-budget=5000 --window-size=1000,890 --screenshot="$dir/report.png" "file://$dir/some.html" >"$dir/said" 2>&1 && [ -s "$dir/report.png" ] ||
  { tail -n 5 "$dir/said" >&2; exit 1; }
cp "$dir/report.png" doc/report.png
echo "$digest" >doc/report.sha256
