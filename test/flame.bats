# flame.bats - flame graphs: folded stacks, the page, the profile.
# A file per form of one program, read back by test/lib/flame.py, which knows the formats and not tally.

bats_require_minimum_version 1.5.0
load common

export FLAME=$BATS_TEST_DIRNAME/lib/flame.py
# Keys alone, so the vm has the whole tree: 10 in all.
TREE='BEGIN { @["a", "x", stack()] = sum(3); @["a", "y</script><script>document.title = 1</script>", stack()] = sum(5);
  @["b<img src=q onerror=\"document.title = 2\">", "Z", stack()] = sum(2); exit(0); }'

setup() { cd "$BATS_TEST_TMPDIR"; }

needs_browser() {
  browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "no Chromium"
}
# browse PAGE [SCRIPT]: the page as a browser leaves it, after SCRIPT has run in it; its policy would not let that run.
browse() {
  sed 's|<meta http-equiv[^>]*>||' "$1" >driven.html
  printf '<script>%s</script>\n' "$2" >>driven.html
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$BATS_TEST_TMPDIR/profile" --window-size=1000,800 \
    --virtual-time-budget=5000 --dump-dom "file://$PWD/driven.html" 2>browser.log
}

@test "folded stacks, page and profile agree with --json in every sum" {
  needs_bpf
  needs_python
  for form in json folded html pb.gz; do
    "$TALLY" trace -qo "deep.$form" -c "$PROGS/deep 12 3" -n '
      pid$target::deeper:entry { @[execname, ustack(), stack()] = count(); @q[ustack(3)] = quantize(arg0); }
      pid$target::deeper:entry { @d_bytes["a <b> &", ustack()] = sum(arg0); @d_bytes["a <b> &", ustack()] = sum(10); }'
    python3 "$FLAME" "deep.$form" >"$form.paths"
  done
  # 13 calls, of 12 down to 0: their stacks, the sum with 10 for each, and the three innermost frames
  [ "$(grep -c '^count();deep;.*deep`deeper[^ ]* 1$' json.paths)" -eq 13 ]
  [ "$(awk '/^@d_bytes;/ { n += $NF } END { print n }' json.paths)" -eq 208 ]
  [ "$(awk '/^@q;/ { n += $NF } END { print n }' json.paths)" -eq 13 ]
  for form in folded html pb.gz; do diff json.paths "$form.paths"; done
}

@test "in folded stacks of both, each frame of the kernel and no other ends with _[k]" {
  needs_bpf
  "$TALLY" trace -qo both.folded -c "dd if=/dev/zero of=/dev/null bs=1 count=7 status=none" -n '
    syscall::write:entry /pid == $target/ { @[ustack(2), stack()] = count(); }'
  [ "$(awk '/libc.*write(;vmlinux`[^;]*_\[k\])+ [0-9]+$/ { n += $NF } END { print n }' both.folded)" -eq 7 ]
  "$TALLY" trace -qo alone.folded -c "dd if=/dev/zero of=/dev/null bs=1 count=7 status=none" -n '
    syscall::write:entry /pid == $target/ { @[stack()] = count(); }'
  grep -q '^vmlinux`' alone.folded
  run ! grep -F '[k]' alone.folded
}

@test "a profile says what its samples are, when they were taken, and the period of the one event" {
  needs_bpf
  needs_python
  before=$(date +%s)
  "$TALLY" trace -qo x.pb.gz -n 'profile-499 { @[stack()] = count(); @w_ns["k"] = sum(1); } tick-300ms { exit(0); }' -c "$PROGS/spin 3000000"
  python3 - $before <<'END'
import gzip, sys
sys.argv[1:], before = ["x.pb.gz"], int(sys.argv[1])
import importlib.util, os
spec = importlib.util.spec_from_file_location("flame", os.environ["FLAME"])
flame = importlib.util.module_from_spec(spec)
spec.loader.exec_module(flame)
p = flame.message(gzip.open("x.pb.gz").read())
text = [s.decode() for s in p[6]]
types = [flame.message(t) for t in p[1]]
assert [(text[t[1][0]], text[t[2][0]]) for t in types] == [("samples", "count"), ("w_ns", "nanoseconds")], types
kind = flame.message(p[11][0])
assert (text[kind[1][0]], text[kind[2][0]]) == ("cpu", "nanoseconds")
assert p[12] == [1000000000 // 499]
assert before <= p[9][0] / 1e9 < before + 600 and 0 < p[10][0] / 1e9 < 600
END
}

@test "Go's pprof reads the profile" {
  needs_bpf
  command -v go >/dev/null || skip "no go, whose pprof reads profiles"
  "$TALLY" trace -qo deep.pb.gz -c "$PROGS/deep 12 3" -n 'pid$target::deeper:entry { @[ustack()] = count(); }'
  go tool pprof -top deep.pb.gz >top
  grep -q '^Type: samples' top
  grep -Eq '^ +13 +100% +100% +13 +100% +deep`deeper' top
}

@test "Go's pprof reads a profile of several aggregations, and one of none" {
  command -v go >/dev/null || skip "no go, whose pprof reads profiles"
  vm -qo x.pb.gz -n 'BEGIN { @a_ns["k", stack()] = sum(1500000); @b["k"] = count(); exit(0); }'
  go tool pprof -top x.pb.gz >top
  grep -q '^Type: a_ns' top # the first one, unless another is asked for
  go tool pprof -top -sample_index=a_ns x.pb.gz | grep -Eq '1.50ms +100% +k'
  vm -qo none.pb.gz -n 'BEGIN { exit(0); }'
  go tool pprof -raw none.pb.gz | grep -q samples/count
}

@test "the page asks the network for nothing, allows its own scripts only, and names stay text" {
  command -v openssl >/dev/null || skip "no openssl"
  vm -qo x.html -n "$TREE"
  run -1 grep -qE 'https?:|@import|url\(' x.html
  run -1 grep -qE '<img|document.title = [12]</script>' x.html
  [ "$(grep -c '<script>' x.html)" -eq 2 ]
  for number in 1 2; do
    hash=$(sed -n 's/.*<script>\(.*\)<\/script>.*/\1/p' x.html | sed -n ${number}p | tr -d '\n' | openssl dgst -sha256 -binary | base64)
    grep -qF "'sha256-$hash'" x.html
  done
}

@test "a browser draws the graph, zooms by click and by keys, searches, and shows the sums" {
  needs_browser
  needs_python
  vm -qo x.html -n "$TREE"
  # what stands there after each step: what is shown, what is found, how many boxes are drawn
  browse x.html '
    const d = document.querySelector(".flame"), c = d.querySelector("canvas"), i = d.querySelector("input"), log = [];
    function note(word) { log.push([word, d.dataset.zoom || "-", d.dataset.shown, d.dataset.found || "-", d.dataset.drawn].join(" ")); }
    function key(on, k) { on.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true, cancelable: true })); }
    function type(text) { i.value = text; i.dispatchEvent(new Event("input")); }
    note("start");
    const r = c.getBoundingClientRect();
    c.dispatchEvent(new MouseEvent("click", { clientX: r.left + r.width * .4, clientY: r.top + 30, bubbles: true }));
    note("click"); type("^x$"); note("regex"); key(i, "Escape"); note("clear"); key(i, "Escape"); note("reset");
    type("["); note("text"); type("z|img"); note("both"); type("");
    ["ArrowDown", "ArrowDown", "ArrowRight", "Enter"].forEach(function (k) { key(c, k); }); note("keys");
    d.querySelector("button").click(); note("button");
    document.body.dataset.log = log.join("|");' >dom
  log=$(sed -n 's/.*<body data-log="\([^"]*\)".*/\1/p' dom | tr '|' '\n')
  [ "$log" = "start - 10 - 6
click a 8 - 4
regex a 8 3 4
clear a 8 - 4
reset sum() 10 - 6
text sum() 10 0 6
both sum() 10 2 6
keys b&lt;img src=q onerror=&quot;document.title = 2&quot;&gt; 2 - 3
button sum() 10 - 6" ] || { echo "$log"; return 1; }
  grep -q '<title>BEGIN' dom # no name became a script
  # the data in the page that the browser has, and what was counted
  mv dom dom.html
  [ "$(python3 "$FLAME" dom.html | awk '{ n += $NF } END { print n }')" -eq 10 ]
}

@test "in a browser the graph's total and its table are the counts of --json, with kernel frames marked" {
  needs_bpf
  needs_browser
  needs_python
  "$TALLY" trace -qo deep.html -c "$PROGS/deep 12 3" -n 'pid$target::deeper:entry { @[execname, ustack(), stack()] = count(); }'
  browse deep.html >dom
  grep -q 'data-total="13" data-shown="13"' dom
  # deeper() calls itself: 13 in all, not once for each frame
  grep -q '<tr><td class="t" data-v="deep`deeper">deep`deeper</td><td data-v="[0-9]*">[0-9]*</td><td data-v="[^"]*">[^<]*</td><td data-v="13">13</td>' dom
  python3 - <<'END'
import json, re
d = json.loads(re.search(r'<script type="application/json">(.*?)</script>', open("deep.html").read(), re.S).group(1))
kinds = dict(zip(d["names"], d["kinds"]))
assert kinds["count()"] == "0" and kinds["deep"] == "0" and kinds["deep`deeper"] == "1", kinds
assert all(k == "2" for n, k in kinds.items() if n.startswith("vmlinux`"))
END
}

@test "the graph is drawn in both color schemes, in other colors" {
  needs_browser
  vm -qo x.html -n "$TREE"
  script='const c = document.querySelector("canvas"), p = c.getContext("2d").getImageData(40, 30, 1, 1).data;
    document.body.dataset.log = p[0] + p[1] + p[2] > 384 ? "light" : "dark";'
  browse x.html "$script" | grep -q '<body data-log="light">'
  sed -i 's/(prefers-color-scheme: dark)/(min-width: 1px)/' x.html
  browse x.html "$script" | grep -q '<body data-log="dark">'
}

@test "any program has a page: tables, histograms and what does not add up stand on it, with what was lost" {
  vm -qo x.html -n 'BEGIN { @["one", -5] = sum(-7); @["<two>", 6] = sum(8); @h["h"] = quantize(4); @m["a", stack()] = max(3); @n = count(); exit(0); }'
  grep -q '<tr><td class="t" data-v="&lt;two&gt;">&lt;two&gt;</td><td data-v="6">6</td><td data-v="8">8</td></tr>' x.html
  grep -q '<tr><td class="t" data-v="one">one</td><td data-v="-5">-5</td><td data-v="-7">-7</td></tr>' x.html
  grep -q '<h2>@h: quantize()</h2>' x.html
  grep -q 'value  ------------- Distribution ------------- count' x.html
  grep -q '<h2>@m: max()</h2>' x.html
  grep -q '<td data-v="1">1</td>' x.html
  run -1 grep -q 'class="flame"' x.html # no stack adds up: the page carries no graph and no script for one
  [ "$(grep -c '<script>' x.html)" -eq 1 ]
  vm -o y.html -n 'BEGIN { trace(*(int *)0); } BEGIN { @ = count(); exit(0); }' 2>said
  grep -q '<li class="note" data-part="error"><b></b>error in dt_clause_0' y.html
  vm -qo none.html -n 'BEGIN { exit(0); }'
  grep -q 'The program has no aggregation with a value.' none.html
}

@test "a page and a profile take the place of the file; folded stacks are appended" {
  for form in html pb.gz folded; do
    for turn in 1 2; do
      vm -qo "x.$form" -n 'BEGIN { @["k"] = count(); exit(0); }'
      [ $turn = 2 ] || cp "x.$form" first
    done
    if [ $form = folded ]; then [ "$(cat x.folded)" = "k 1
k 1" ]; else cmp "x.$form" first; fi
  done
}
