#!/usr/bin/env bats
# The page of `tally serve` in a browser, and the profiles that the service hands out.

bats_require_minimum_version 1.5.0
load common
load service

needs_page() {
  needs_http
  needs_python
  command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || skip "no Chromium"
}

browse() { # [OPTION]... STEP...: test/lib/browser.py has them; the page is $at/
  local options=()
  while [[ "$1" == --* ]]; do options+=("$1"); shift; [[ "${options[-1]}" != --s* ]] || { options+=("$1"); shift; }; done
  timeout 240 python3 "$BATS_TEST_DIRNAME/lib/browser.py" "${options[@]}" "$at/" "$@"
}
STEPPED='Number(document.body.dataset.step) >= 2' # two steps have come since the page was opened

known_program() {
  cat >known.d <<'D'
/* Things that happened. */
BEGIN { @things["a", 7] = count(); @things["c", -1] = count(); @things["c", -1] = count(); @amount = sum(42); @least[1] = min(-3);
	@spread_ms = quantize(3); @spread_ms = quantize(100, 2); @reads["sh", stack()] = sum(5); @reads["a", stack()] = sum(3); }
D
}

@test "the page's numbers are those of /metrics and of tally trace --json, for each kind of aggregation" {
  needs_page
  known_program
  serve -s known.d
  browse until "$STEPPED" print '
    JSON.stringify(Array.from(document.querySelectorAll(".agg")).map((s) => [s.dataset.name, s.dataset.kind,
      Array.from(s.querySelectorAll("tbody tr")).map((r) => Array.from(r.querySelectorAll("td[data-v]")).map((c) => c.dataset.v).slice(0, 3)),
      (s.querySelector(".big b") || s.querySelector(".flame") || { dataset: {} }).dataset.v || (s.querySelector(".flame") || { dataset: {} }).dataset.total || "",
      (s.querySelector(".heat") || { dataset: {} }).dataset.total || ""]))' >shown
  [ "$(cat shown)" = '[["things","count",[["c","-1","2"],["a","7","1"]],"",""],["amount","sum",[],"42",""],["least","gauge",[["1","-3","0"]],"",""],["spread_ms","histogram",[["3","3","127"]],"","3"],["reads","stacks",[],"8",""]]' ] || { cat shown; return 1; }
  metrics >metrics
  grep -qxF 'tally_amount{program="known"} 42' metrics
  grep -qE '^tally_things_total\{.*"c".*"-1"\} 2$' metrics
  grep -qE '^tally_least\{.*\} -3$' metrics
  grep -qxF 'tally_spread_seconds_count{program="known"} 3' metrics
  "$TALLY" trace -q --json -s known.d -n 'BEGIN { exit(0); }' >json
  grep -q '"name":"things".*"keys":\["c",-1\].*"value":2}$' json
  grep -q '"name":"things".*"keys":\["a",7\].*"value":1}$' json
  grep -q '"name":"amount".*"value":42}$' json
  grep -q '"name":"least".*"keys":\[1\].*"value":-3}$' json
  grep -q '"name":"spread_ms".*"buckets":\[{"from":2,"to":3,"count":1},{"from":64,"to":127,"count":2}\]' json
}

@test "what happens while the page is open is on it, and what a range has is what came in it" {
  needs_page
  echo 'syscall::read:entry /execname == "serve-reader" && arg0 == 0/ { @reads[execname] = count(); }' >reads.d
  serve -s reads.d
  read_calls 20000
  browse until 'document.querySelector(".agg tbody td[data-v=\"20000\"]")' run 'void Array.from(document.querySelectorAll("#ranges button")).find((b) => b.textContent === "1 min").click()' \
    until 'document.querySelectorAll(".agg tbody td")[2].dataset.v === "0"' print 'document.querySelectorAll(".agg tbody td")[1].dataset.v' >shown
  [ "$(cat shown)" = 20000 ]
  metrics | grep -qxF 'tally_reads_total{program="reads",execname="serve-reader"} 20000'
}

@test "an average is the same whole number on the page, in what tally trace prints, and in JSON; its sum and count are in /metrics" {
  needs_page
  echo 'BEGIN { @a = avg(3); @a = avg(4); }' >mean.d
  serve -s mean.d
  browse until "$STEPPED" print 'document.querySelector(".agg .what").textContent' print 'document.querySelector(".big b").textContent' >shown
  [ "$(cat shown)" = "avg() in whole numbers — mean
3" ] || { cat shown; return 1; }
  [ "$("$TALLY" trace -q -s mean.d -n 'BEGIN { exit(0); }' | tr -d ' \n')" = 3 ]
  "$TALLY" trace -q --json -s mean.d -n 'BEGIN { exit(0); }' | grep -q '"value":3,"sum":7,"count":2}$'
  metrics >metrics
  grep -qxF 'tally_a_sum{program="mean"} 7' metrics
  grep -qxF 'tally_a_count{program="mean"} 2' metrics
}

@test "percentiles are of the range, as counts are" {
  needs_page
  echo 'BEGIN { @q["k"] = quantize(1000, 1000000); } tick-50ms { @q["k"] = quantize(3); }' >q.d
  serve -s q.d
  quantiles='Array.from(document.querySelectorAll(".agg tbody td[data-v]")).slice(3).map((c) => c.dataset.v).join()'
  browse until "$STEPPED && $quantiles === '1023,1023,1023'" print 'Array.from(document.querySelectorAll(".agg thead th")).map((c) => c.textContent).slice(3, 6).join()' \
    run 'void Array.from(document.querySelectorAll("#ranges button")).find((b) => b.textContent === "1 min").click()' until "$quantiles === '3,3,3'" >shown
  [ "$(cat shown)" = 'p50 in range ≤,p90 in range ≤,p99 in range ≤' ] || { cat shown; return 1; }
}

@test "names that want to be markup stay text, and no other host is asked" {
  needs_page
  cat >hostile.d <<'D'
/* <script>document.title = 'help'</script> */
BEGIN { @h["</script><script>document.title = 'key'</script>", "<img src=q onerror=\"document.title = 2\">\""] = count();
	@s["<img src=q onerror=\"document.title = 3\">", stack()] = sum(7); }
D
  serve -s hostile.d
  browse until "$STEPPED" print 'document.title' print 'document.images.length + document.querySelectorAll("main script").length' \
    print 'document.querySelector(".agg tbody td").textContent' print 'fetch("https://example.invalid/").then(() => "fetched", () => "refused")' network >shown 2>said && status=0 || status=$?
  [ "$status" -eq 1 ] || { cat shown said; return 1; } # what the policy refuses is an error to the browser
  [ "$(sed -n 1p shown)" = tally ]
  [ "$(sed -n 2p shown)" = 0 ]
  [ "$(sed -n 3p shown)" = "</script><script>document.title = 'key'</script>" ]
  [ "$(sed -n 4p shown)" = refused ]
  grep -q 'Content Security Policy' said # what refused it, as the browser says
  run ! grep -vF "$at" <(sed -n '5,$p' shown | grep -v example.invalid)
}

@test "the policy names the page's scripts, and allows nothing else" {
  needs_http
  command -v openssl >/dev/null || skip "no openssl"
  known_program
  serve -s known.d
  curl -sf -D head "$at/" >page
  run ! grep -qE 'https?:|@import|url\(|src=' page
  [ "$(grep -c '<script>' page)" -eq 2 ]
  python3 - page <<'P' >hashes
import base64, hashlib, re, sys
for text in re.findall(rb"<script>(.*?)</script>", open(sys.argv[1], "rb").read(), re.S):
    print("'sha256-%s'" % base64.b64encode(hashlib.sha256(text).digest()).decode())
P
  [ "$(wc -l <hashes)" -eq 2 ]
  while read -r hash; do grep -i '^content-security-policy' head | grep -qF "$hash"; done <hashes
  grep -i '^content-security-policy' head | grep -qF "default-src 'none'; connect-src 'self'"
}

@test "the zoom of a flame graph stays while counts come in" {
  needs_page
  cat >live.d <<'D'
BEGIN { @s["left", stack()] = sum(3); @s["right", stack()] = sum(5); }
tick-100ms { @s["left", stack()] = sum(1); @s["new", stack()] = sum(1); @n = count(); }
D
  serve -s live.d
  browse until "$STEPPED" run '
      const c = document.querySelector(".flame canvas");
      c.focus(); ["ArrowDown", "ArrowDown", "Enter"].forEach((k) => c.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true })));
      window.seen = [document.querySelector(".flame").dataset.zoom, Number(document.querySelector(".flame").dataset.total)];' \
    until 'Number(document.querySelector(".flame").dataset.total) > window.seen[1] + 20' \
    print 'window.seen[0] + " " + document.querySelector(".flame").dataset.zoom + " " + document.querySelector(".flame").dataset.drawn' >shown
  [[ "$(cat shown)" =~ ^([a-z]+)\ ([a-z]+)\  ]]
  [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ] || { cat shown; return 1; }
}

@test "a pause stands still, and goes on with what came meanwhile" {
  needs_page
  echo 'tick-50ms { @n = count(); }' >n.d
  serve -s n.d
  browse until "$STEPPED" run 'document.querySelector("#pause").click(); void (window.was = document.querySelector(".big b").dataset.v)' \
    until '/[3-9] steps behind/.test(document.querySelector("#state").textContent)' print 'document.querySelector(".big b").dataset.v === window.was' \
    run 'document.querySelector("#pause").click()' until 'Number(document.querySelector(".big b").dataset.v) > Number(window.was) + 20' >shown
  [ "$(cat shown)" = true ]
}

@test "ten thousand keys are drawn at once, and filtered, while steps come" {
  needs_page
  echo 'int i; tick-1ms /i < 12000/ { @k[i] = count(); i++; @k[i] = count(); i++; @k[i] = count(); i++; @k[i] = count(); i++; } tick-100ms { @k[1] = count(); }' >many.d
  serve -s many.d
  browse until 'Number((document.querySelector(".agg") || { dataset: {} }).dataset.keys) >= 10000' run '
      window.slow = 0; new PerformanceObserver((l) => l.getEntries().forEach((e) => { window.slow = Math.max(window.slow, e.duration); })).observe({ type: "longtask" });
      window.from = Number(document.body.dataset.step); document.querySelector(".filter").value = "9999"; document.querySelector(".filter").dispatchEvent(new Event("input"))' \
    until 'Number(document.body.dataset.step) > window.from + 3' \
    print 'document.querySelectorAll(".agg tbody tr").length' print 'document.querySelector(".agg .more").hidden' print 'window.slow' print 'document.querySelector(".agg > p").textContent' >shown
  [ "$(sed -n 1p shown)" -le 1 ] || { cat shown; return 1; }
  [ "$(sed -n 2p shown)" = true ]
  echo "# longest task: $(sed -n 3p shown) ms" >&3
}

@test "losses and programs that failed stand on the page" {
  needs_page
  echo 'BEGIN { nosuch(); }' >broken.d
  echo '#pragma D option aggsize=1k
int i;
tick-1ms { @k[i++] = count(); }' >losing.d
  serve -s broken.d -s losing.d
  browse until 'Number(document.querySelector("#lost").dataset.v) > 0' print 'document.querySelector("#lost").textContent' \
    print 'document.querySelector("[data-program=broken]").textContent' >shown
  grep -qE '^Lost: (.*, )?[0-9,]+ values whose key found no room(,|$)' shown || { cat shown; return 1; } # on a busy machine ticks, too
  grep -q 'failed.*undefined function name: nosuch' shown
}

@test "platforms stand on the page as in /status: those that run, and those that do not, with the reason" {
  needs_page
  serve --on power -e gpci/dispatch_purr/ --on "unix:$PWD/nobody" -e pmu.0/cycles/
  browse until "$STEPPED" print 'JSON.stringify(Array.from(document.querySelectorAll("#programs dl > div")).map((e) => [e.dataset.program, e.className, e.querySelector(".why").textContent]))' >shown
  curl -sf "$at/status" | python3 -c '
import json, sys
print(json.dumps([[p["platform"], p["state"], p["reason"]] for p in json.load(sys.stdin)["programs"]], separators=(",", ":")))' >status
  diff shown status
  [ "$(grep -o '"running"\|"failed"' shown | sort | tr -d '\n')" = '"failed""running"' ]
}

@test "with --history a page shows what was before it was opened" {
  needs_page
  echo 'tick-50ms { @n = count(); }' >n.d
  serve --history 60s -s n.d
  curl -sN "$at/live" | awk '/^event: step/ && ++n == 4 { exit } END { exit n < 4 }'
  browse until 'Number(document.body.dataset.steps) >= 5' print 'document.querySelector("#reach").textContent' >shown
  grep -qE 'of 60 seconds' shown
  for bad in 0 5 1d 25h x ''; do run -2 "$TALLY" serve --history "$bad" -s n.d; has "invalid time '$bad'"; done
}

# A page's script that puts a known past in the place of /live: read each second from 0 to 9 and from 29 to 40. Of the histogram 7 were counted in the
# second that ends at 5, 50 between 9 and 29, and 3 in the second that ends at 35; @n counts 4 a second while it is read, and 1000 between.
known_past() {
  cat <<'J'
const BEGINNING = 1e12, counts = { 5: 7, 29: 50, 35: 3 }, times = [...Array(10).keys()].concat([...Array(12).keys()].map((i) => 29 + i));
const facts = (s) => ({ t: BEGINNING + s * 1000, fired: [0], lost: [] });
const agg = (id, name, kind) => ({ id: id, program: "p", name: name, function: kind === "count" ? "count" : "quantize", kind: kind, keys: [], help: "", lows: [1, 2, 4] });
window.EventSource = class {
	constructor() {
		this.on = {};
		setTimeout(() => {
			const all = times.reduce((n, s) => n + (counts[s] || 0), 0);
			this.on.state({ data: JSON.stringify(Object.assign(facts(40), { step: 1000, span: 600000, reach: 40000, programs: [["p", "running", "", "p.d"]],
				aggs: [agg(1, "h", "histogram"), agg(2, "n", "count")], new: [[1, 3], [2, 4]], d: [3, all, 4, 1100], b: [3, 1, all] })) });
			times.slice().reverse().forEach((s) => this.on.past({ data: JSON.stringify(Object.assign(facts(s),
				{ d: [4, s === 29 ? 1000 : 4].concat(counts[s] ? [3, counts[s]] : []), b: counts[s] ? [3, 1, counts[s]] : [] })) }));
		});
	}
	addEventListener(name, f) { this.on[name] = f; }
	close() { }
};
// What a canvas has in each second: "." one color, that of nothing; "#" one other color; "/" several.
window.drawnSeconds = (canvas, left, width, height, nothing) => Array.from({ length: 40 }, (_, s) => {
	const from = Math.ceil(left + s / 40 * width) + 1, to = Math.floor(left + (s + 1) / 40 * width) - 1, c = canvas.getContext("2d").getImageData(from, 1, to - from, height - 3).data;
	const colors = new Set(Array.from({ length: c.length / 4 }, (__, i) => c.slice(i * 4, i * 4 + 3).join()));
	return colors.size > 1 ? "/" : colors.has(nothing) ? "." : "#";
}).join("");
// In which seconds a canvas has a line of the color of curves.
window.curveSeconds = (canvas) => Array.from({ length: 40 }, (_, s) => {
	const color = getComputedStyle(document.documentElement).getPropertyValue("--accent").trim(), want = [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16));
	const at = s / 40 * canvas.width, c = canvas.getContext("2d").getImageData(Math.ceil(at) + 1, 0, Math.floor(canvas.width / 40) - 2, canvas.height).data;
	for (let i = 0; i < c.length; i += 4) { if (c[i + 3] > 90 && want.every((v, k) => Math.abs(v - c[i + k]) < 40)) { return "~"; } }
	return " ";
}).join("");
window.told = (second) => {
	const heat = document.querySelector(".heat"), canvas = heat.querySelector("canvas"), box = canvas.getBoundingClientRect();
	const x = box.left + Number(canvas.dataset.left) + second / 40 * canvas.dataset.width;
	heat.dispatchEvent(new PointerEvent("pointermove", { clientX: x, clientY: box.top + 5, bubbles: true }));
	return heat.querySelector("output").textContent;
};
window.clocks = (from, to) => [from, to].map((s) => new Date(BEGINNING + s * 1000).toLocaleTimeString([], { hour12: false })).join(" \u2013 ");
J
}

@test "columns and curves stand where their time is, and time that nobody read is a hole" {
  needs_page
  known_program
  serve -s known.d
  known_past >past.js
  browse --script past.js until 'document.querySelector(".heat").dataset.total === "60" && document.querySelector(".big canvas").width > 300' print '
      const canvas = document.querySelector(".heat canvas"), card = canvas.getContext("2d").getImageData(Number(canvas.dataset.left) + 2, 2, 1, 1).data.slice(0, 3).join();
      drawnSeconds(canvas, Number(canvas.dataset.left), Number(canvas.dataset.width), 20, card)' \
    print 'curveSeconds(document.querySelector(".big canvas"))' \
    print 'told(4.5) === clocks(4, 5) + "\n\u2265 1: 7"' print 'told(34.5) === clocks(34, 35) + "\n\u2265 1: 3"' print 'told(20) === clocks(9, 29) + ", not read\n\u2265 1: 50"' \
    print 'document.querySelector(".big small").textContent' print 'document.querySelector("#reach").textContent' >shown
  [ "$(sed -n 1p shown)" = "....#....////////////////////.....#....." ] || { cat shown; return 1; }
  [ "$(sed -n 2p shown)" = "~~~~~~~~~                    ~~~~~~~~~~~" ] || { cat shown; return 1; }
  [ "$(sed -n 3,5p shown | sort -u)" = true ] || { cat shown; return 1; }
  [ "$(sed -n 6p shown)" = "27 a second, 1,100 in range" ] || { cat shown; return 1; }
  grep -q 'Hatched time was not read' shown
}

@test "labels of times differ, also of a time of two seconds" {
  needs_page
  known_program
  serve -s known.d
  cat >texts.js <<'J'
const put = CanvasRenderingContext2D.prototype.fillText, clear = CanvasRenderingContext2D.prototype.clearRect;
CanvasRenderingContext2D.prototype.fillText = function (text, ...at) { (this.canvas.texts ||= []).push(text); put.call(this, text, ...at); };
CanvasRenderingContext2D.prototype.clearRect = function (...at) { this.canvas.texts = []; clear.call(this, ...at); };
window.labels = () => document.querySelector("#timeline canvas").texts.filter((t) => /^[0-9]+:/.test(t));
window.EventSource = class {
	constructor() { this.on = {}; window.come = (name, s, more) => this.on[name]({ data: JSON.stringify(Object.assign({ t: 1e12 + s * 1000, fired: [], lost: [] }, more)) });
		setTimeout(() => { come("state", 0, { step: 1000, span: 600000, reach: 0, programs: [] }); come("step", 1); come("step", 2); }); }
	addEventListener(name, f) { this.on[name] = f; }
	close() { }
};
J
  browse --script texts.js until 'document.body.dataset.step === "2" && labels().length > 3' print 'new Set(labels()).size === labels().length' \
    run 'for (let s = 3; s < 60; s++) { come("step", s); }' until 'document.body.dataset.step === "59"' print 'labels().some((t) => /[.,]/.test(t))' >shown
  [ "$(tr '\n' ' ' <shown)" = "true false " ] || { cat shown; return 1; }
}

@test "the time line adds up what aggregations count, no sums, and says so" {
  needs_page
  known_program
  serve -s known.d
  cat >texts.js <<'J'
const put = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...at) { this.canvas.said = text; put.call(this, text, ...at); };
const agg = (id, function_, kind) => ({ id: id, program: "p", name: "a" + id, function: function_, kind: kind, keys: kind === "stacks" ? ["stack()"] : [], help: "", lows: [] });
window.EventSource = class {
	constructor() {
		this.on = {};
		const come = (name, s, more) => this.on[name]({ data: JSON.stringify(Object.assign({ t: 1e12 + s * 1000, fired: [0], lost: [] }, more)) });
		setTimeout(() => {
			come("state", 0, { step: 1000, span: 600000, reach: 0, programs: [["p", "running", "", "p.d"]], names: [[4, [1, "f"]], [5, [1, "f"]]], new: [[1, 11], [2, 12], [3, 13], [4, 14, 0], [5, 15, 0]],
				aggs: [agg(1, "count", "count"), agg(2, "sum", "sum"), agg(3, "avg", "gauge"), agg(4, "count", "stacks"), agg(5, "sum", "stacks")] });
			come("step", 1); come("step", 2, { d: [11, 3, 12, 1000, 13, 1000, 14, 4, 15, 1000] });
		});
	}
	addEventListener(name, f) { this.on[name] = f; }
	close() { }
};
J
  browse --script texts.js until 'document.body.dataset.step === "2"' print 'document.querySelector("#timeline canvas").said' >shown
  [ "$(cat shown)" = "counts of all aggregations together, at most 7 a second" ] || { cat shown; return 1; }
}

@test "it fits a phone, in dark and in light: nothing is wider than the window" {
  needs_page
  known_program
  echo 'BEGIN { @lat_ms["some-long-command", 123456] = quantize(5000000); @lat_ms["a", 1] = quantize(3); @[123456789, 123456789, 123456789, 123456789] = sum(12345678901234); }' >wide.d
  serve -s known.d -s wide.d
  for width in 360 390; do # of four keys the table may be wider: it is scrolled
    browse --size ${width}x844 until "$STEPPED" print 'document.documentElement.scrollWidth' print 'const t = document.querySelector("[data-name=lat_ms] table"); t.scrollWidth <= t.parentNode.clientWidth' >shown
    [ "$(cat shown)" = "$width
true" ] || { cat shown; return 1; }
  done
  for scheme in "" --dark; do
    # shellcheck disable=SC2086
    browse $scheme --size 390x844 until "$STEPPED" print 'document.documentElement.scrollWidth' print 'getComputedStyle(document.body).backgroundColor' >shown
    [ "$(sed -n 1p shown)" -le 390 ] || { cat shown; return 1; }
    sed -n 2p shown >>colors
  done
  [ "$(sort -u colors | wc -l)" -eq 2 ]
}

@test "Firefox loads the page" {
  needs_http
  firefox=$(command -v firefox-esr || command -v firefox) || skip "no Firefox"
  known_program
  serve -s known.d
  HOME=$PWD timeout 120 "$firefox" --headless --window-size 1000,900 --screenshot "$PWD/page.png" "$at/" 2>said || { tail -n 5 said; return 1; }
  [ -s page.png ]
}

# ---- profiles ------------------------------------------------------------------------------------------

export FLAME=$BATS_TEST_DIRNAME/lib/flame.py

@test "/folded and the profile agree in every sum, which is what was counted" {
  needs_http
  needs_python
  cat >deep.d <<'D'
BEGIN { @["a", stack()] = count(); @["a", stack()] = count(); @["b c", stack()] = count(); @d_bytes["a <b> &", ustack()] = sum(40); @m["x", stack()] = max(3); }
D
  serve -s deep.d
  curl -sf "$at/folded" >x.folded
  curl -sf "$at/debug/pprof/profile?seconds=0" >x.pb.gz
  for form in folded pb.gz; do python3 "$FLAME" "x.$form" >"$form.paths"; done
  diff folded.paths pb.gz.paths
  [ "$(awk '/^count/ { n += $NF } END { print n }' folded.paths)" -eq 3 ]
  [ "$(awk '/^@d_bytes/ { n += $NF } END { print n }' folded.paths)" -eq 40 ]
  run ! grep -q '@m' folded.paths # what does not add up has no place there
  [ "$(curl -sf "$at/folded?program=deep&aggregation=d_bytes" | awk '{ n += $NF } END { print n }')" -eq 40 ]
}

@test "Go's pprof reads the profile of the service, of what was counted between two readings" {
  needs_http
  command -v go >/dev/null || skip "no go, whose pprof reads profiles"
  echo 'BEGIN { @["before", stack()] = sum(1000000); } tick-10ms { @["k", stack()] = sum(1); }' >t.d
  serve -s t.d
  go tool pprof -top -seconds 2 "$at/debug/pprof/profile" >top 2>said || { cat said; return 1; }
  grep -q '^Type: sum' top
  grep -Eq '100% +k' top
  run ! grep -q before top
  curl -sf "$at/folded?seconds=1" >one
  run ! grep -q before one
  [ "$(awk '{ n += $NF } END { print n }' one)" -le 1000 ]
}

@test "stacks whose sum is below 0 have no width: the page and /folded say how many, and a profile has them" {
  needs_page
  command -v go >/dev/null || skip "no go, whose pprof reads profiles"
  echo 'BEGIN { @use["less", stack()] = sum(-40); @use["even less", stack()] = sum(-2); @use["more", stack()] = sum(60); }' >use.d
  serve -s use.d
  browse until "$STEPPED" print 'document.querySelector(".flame").dataset.total' print 'document.querySelector(".agg > p").textContent' >shown
  [ "$(cat shown)" = "60
Not drawn, since a sum below 0 has no width: 2 stacks." ] || { cat shown; return 1; }
  curl -sf -D head "$at/folded" | grep -qE '^more.* 60$'
  tr -d '\r' <head | grep -qix 'Tally-Left-Out: 2'
  curl -sf -D head "$at/debug/pprof/profile?seconds=0" >use.pb.gz
  run ! grep -i 'Tally-Left-Out' head
  go tool pprof -top use.pb.gz >top 2>said || { cat said; return 1; }
  for row in '-40 .*-40 .* less$' '-2 .* even less$' '60 .* more$'; do grep -qE -- "$row" top || { cat top; return 1; }; done
}

@test "a request for a profile that can't be had is told why" {
  needs_http
  echo 'BEGIN { @["a", stack()] = count(); }' >one.d
  echo 'BEGIN { @calls["a", stack()] = count(); @n = count(); }' >two.d
  echo 'BEGIN { @["a"] = count(); }' >none.d
  serve -s one.d -s two.d -s none.d
  [ "$(curl -s "$at/folded")" = "several programs have stacks; add program=NAME, of: one, two" ]
  [ "$(curl -s "$at/folded?program=none")" = "no such program has stacks; add program=NAME, of: one, two" ]
  [ "$(curl -s "$at/folded?program=one&seconds=-1")" = "seconds: expected a whole number from 0 to 3600" ]
  [ "$(curl -s -o /dev/null -w '%{http_code}' "$at/folded?program=one&aggregation=x")" = 404 ]
  [ "$(curl -s "$at/folded?aggregation=x")" = "no running program has an aggregation of this name that adds up and has a stack in its key; there is: one without a name, calls" ]
  [ "$(curl -s "$at/folded?program=one")" = "a 1" ] || curl -s "$at/folded?program=one" | grep -qE '^a;.* 1$'
}

@test "the service ends at once while pages are open and profiles are taken" {
  needs_http
  echo 'BEGIN { @["a", stack()] = count(); }' >one.d
  serve -s one.d
  curl -sN "$at/live" >live & one=$!
  curl -s "$at/debug/pprof/profile?seconds=3000" >profile & two=$!
  for _ in $(seq 100000); do ! grep -q '^event: step' live || break; done
  kill "$server"
  wait "$server"
  server=
  wait $one
  wait $two
}
