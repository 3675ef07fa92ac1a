"use strict";
// The page of `tally serve`. It gets events of /live (src/serve/history_int.h has their form), keeps what a time range needs, and draws.
//
// Steps have numbers; a ring of N places has what each series changed by at each step, so a range is a sum and the past is the present less what came
// after it. A ring is made with the first change: a key that rests costs nothing. Names come from anybody: they become text nodes, never markup.
(function () {
const $ = (q, in_) => (in_ || document).querySelector(q), BASE = 1e6;
const group = new Intl.NumberFormat("en"), short = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const LOSSES = { firing: "firings", recursion: "firings within their own program", tick: "firings of tick probes", principal: "records", aggregation: "values whose key found no room", stack: "stacks",
	dynamic: "assignments to variables that found no room", slice: "time slices",
	wait: "waits for locks", speculation_busy: "speculations (busy)", speculation_unavailable: "speculations (no buffer)", speculative: "speculative records",
	lost_records: "records of packets", gaps: "gaps between packets", damaged_bytes: "damaged bytes of a trace" };
let S = null, range = { kind: "all" }, paused = false, waiting = [], frame = 0, drag = null, source, heard = 0;

// ---- small things --------------------------------------------------------------------------
function style(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
function make(tag, cls, text) {
	const e = document.createElement(tag);
	if (cls) { e.className = cls; }
	if (text !== undefined) { e.textContent = text; }
	return e;
}
function set(e, text) { if (e.textContent !== text) { e.textContent = text; } }
function rgb(hex) { return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)); }
function shade(ramp, f) {
	const a = f < .5 ? ramp[0] : ramp[1], b = f < .5 ? ramp[1] : ramp[2], g = f < .5 ? f * 2 : f * 2 - 1;
	return "rgb(" + a.map((v, i) => Math.round(v + (b[i] - v) * g)) + ")";
}
function unitOf(name) { const m = /(?:^|_)(ns|us|ms|bytes)$/.exec(name); return m ? m[1] : ""; }
function human(v, unit) {
	const ns = { ns: 1, us: 1e3, ms: 1e6 }[unit], a = Math.abs(v);
	if (ns) {
		const t = a * ns, u = t < 1e3 ? [1, "ns"] : t < 1e6 ? [1e3, "µs"] : t < 1e9 ? [1e6, "ms"] : [1e9, "s"];
		return short.format(v * ns / u[0]) + " " + u[1];
	}
	if (unit === "bytes" && a >= 1024) {
		const k = Math.min(Math.floor(Math.log2(a) / 10), 5);
		return short.format(v / Math.pow(1024, k)) + " " + ["", "KiB", "MiB", "GiB", "TiB", "PiB"][k];
	}
	return group.format(v) + (unit === "bytes" ? " B" : "");
}
function perSecond(v, unit) { return (Math.abs(v) >= 1000 || v === 0 ? human(Math.round(v), unit) : human(Number(v.toPrecision(3)), unit)); }
function clock(t, digits) {
	return new Date(t).toLocaleTimeString([], { hour12: false, hour: "numeric", minute: "numeric", second: "numeric", fractionalSecondDigits: digits });
}
function canvasOf(canvas, height) {
	const w = canvas.clientWidth || canvas.parentNode.clientWidth, scale = window.devicePixelRatio || 1, c = canvas.getContext("2d");
	if (canvas.width !== Math.round(w * scale) || canvas.height !== Math.round(height * scale)) {
		canvas.width = Math.round(w * scale); canvas.height = Math.round(height * scale); canvas.style.height = height + "px";
	}
	c.setTransform(scale, 0, 0, scale, 0, 0); c.clearRect(0, 0, w, height); c.font = "12px system-ui, sans-serif"; c.textBaseline = "middle";
	return { c: c, w: w, h: height };
}

// ---- what was counted ------------------------------------------------------------------------
function begin(e) {
	const slots = Math.max(2, Math.ceil(e.span / e.step) + 1);
	S = { n: slots, step: e.step, span: e.span, reach: e.reach, first: BASE + 1, last: BASE, times: new Float64Array(slots), programs: [], fired: [],
		lost: [], lostAt: new Array(slots), aggs: new Map(), series: new Map(), activity: new Float64Array(slots) };
	S.times[BASE % slots] = e.t;
	document.querySelectorAll("main .agg").forEach((x) => x.remove());
	apply(e, false);
	S.lostAt[BASE % slots] = total();
	ranges();
}
function total() { return S.lost.reduce((n, l) => n + l[2], 0); }
function ring(o) { return o.ring || (o.ring = new Float64Array(S.n)); }
// A step's facts. Of the state (no slot) the differences are the values themselves.
function apply(e, step) {
	const at = S.last % S.n;
	if (e.programs) { S.programs = e.programs; }
	S.fired = e.fired; S.lost = e.lost;
	(e.gone || []).forEach((id) => {
		const a = S.aggs.get(id);
		if (a) { a.series.forEach((s) => S.series.delete(s.id)); a.el.remove(); S.aggs.delete(id); }
	});
	(e.aggs || []).forEach((d) => S.aggs.set(d.id, section(d)));
	(e.names || []).forEach((n) => { const a = S.aggs.get(n[0]); a.kinds += n[1][0]; a.names.push(n[1][1]); });
	(e.new || []).forEach((n) => {
		const a = S.aggs.get(n[0]), other = n.length === 3 && n[2] === null;
		const s = { id: n[1], agg: a, other: other, key: other ? [] : n.slice(2), value: 0, ring: null, buckets: null, log: [] };
		s.text = other ? "(other keys)" : a.kind === "stacks" ? "" : s.key.map(keyText).join(" ");
		a.series.set(s.id, s); a.changed = true; S.series.set(s.id, s);
	});
	(e.folded || []).forEach((f) => { const a = S.aggs.get(f[0]); if (a) { a.folded = f[1]; } });
	const d = e.d || [], b = e.b || [];
	for (let i = 0; i < d.length; i += 2) {
		const s = S.series.get(d[i]);
		if (!s) { continue; }
		s.value += d[i + 1];
		if (step) {
			ring(s)[at] = d[i + 1];
			if (isCounted(s.agg)) { S.activity[at] += Math.max(d[i + 1], 0); }
		}
	}
	for (let i = 0; i < b.length; i += 3) {
		const s = S.series.get(b[i]);
		if (!s) { continue; }
		s.buckets = s.buckets || new Map(); s.buckets.set(b[i + 1], (s.buckets.get(b[i + 1]) || 0) + b[i + 2]);
		bucketOf(s.agg, b[i + 1]).value += b[i + 2];
		if (step) { ring(bucketOf(s.agg, b[i + 1]))[at] += b[i + 2]; s.log.push(S.last, b[i + 1], b[i + 2]); }
	}
	(e.dead || []).forEach((id) => {
		const s = S.series.get(id);
		if (!s) { return; }
		if (s.buckets) { s.buckets.forEach((v, k) => { bucketOf(s.agg, k).value -= v; }); }
		s.agg.series.delete(id); s.agg.changed = true; S.series.delete(id);
	});
}
// Whether its values are numbers of events, which the time line adds up.
function isCounted(a) { return a.kind === "count" || a.kind === "histogram" || a.kind === "stacks" && a.function !== "sum"; }
function bucketOf(a, k) {
	let b = a.buckets.get(k);
	if (!b) { b = { value: 0, ring: null }; a.buckets.set(k, b); }
	return b;
}
function step(e) {
	S.last++;
	const at = S.last % S.n;
	if (S.last - S.first + 1 > S.n) { S.first = S.last - S.n + 1; }
	while (S.first < S.last && (S.times[S.first % S.n] < e.t - S.span || S.times[S.first % S.n] > e.t)) { S.first++; } // also of a clock that was set back
	S.series.forEach((s) => {
		if (s.ring) { s.ring[at] = 0; }
		if (s.log.length && S.last % S.n === 0) { s.log = s.log.filter((x, i) => s.log[i - i % 3] >= S.first); }
	});
	S.aggs.forEach((a) => a.buckets.forEach((b) => { if (b.ring) { b.ring[at] = 0; } }));
	S.times[at] = e.t; S.activity[at] = 0;
	apply(e, true);
	S.lostAt[at] = total();
}
// A step of the time before the state: it goes in front of those that are there.
function past(e) {
	if (S.last - S.first + 1 >= S.n) { return; }
	S.first--;
	const at = S.first % S.n, d = e.d || [], b = e.b || [];
	S.times[at] = e.t; S.lostAt[at] = e.lost.reduce((n, l) => n + l[2], 0); S.activity[at] = 0;
	for (let i = 0; i < d.length; i += 2) {
		const s = S.series.get(d[i]);
		if (!s) { continue; }
		ring(s)[at] = d[i + 1];
		if (isCounted(s.agg)) { S.activity[at] += Math.max(d[i + 1], 0); }
	}
	for (let i = 0; i < b.length; i += 3) {
		const s = S.series.get(b[i]);
		if (s) { ring(bucketOf(s.agg, b[i + 1]))[at] += b[i + 2]; s.log.push(S.first, b[i + 1], b[i + 2]); }
	}
}
function keyText(k) { return Array.isArray(k) ? k.join(" < ") : String(k); }

// The steps of the range: those after `from`, up to `to`. The first step that is known has no beginning, so it only ends one.
function steps() {
	const lo = Math.min(S.first, S.last), t = (k) => S.times[k % S.n];
	let from = lo, to = S.last;
	if (range.kind === "last") { while (from < to && t(from) < t(to) - range.ms) { from++; } }
	if (range.kind === "between") {
		while (to > lo && t(to) > range.to) { to--; }
		while (from < to && t(from) < range.from) { from++; }
		if (from === to && to < S.last) { to++; } else if (from === to && from > lo) { from--; } // all of it is in one step
	}
	return { from: from, to: to, seconds: Math.max((t(to) - t(from)) / 1000, 0), all: range.kind === "all" };
}
// A step over time that nobody read: what it has was counted somewhen in that time. So it is in sums, and in no column or curve.
function isHole(k) { return S.times[k % S.n] - S.times[(k - 1) % S.n] > 2 * S.step; }
// Where in `width` pixels the time of a step's end is.
function placeOf(r, width) {
	const t0 = S.times[r.from % S.n], t1 = S.times[r.to % S.n];
	return (t) => (t1 > t0 ? (t - t0) / (t1 - t0) * width : 0);
}
function drawHole(v, left, right, top, height) {
	v.c.save(); v.c.beginPath(); v.c.rect(left, top, right - left, height); v.c.clip();
	v.c.strokeStyle = style("--rule"); v.c.lineWidth = 1; v.c.beginPath();
	for (let x = left - height; x < right; x += 7) { v.c.moveTo(x, top + height); v.c.lineTo(x + height, top); }
	v.c.stroke();
	if (height >= 20 && right - left >= 60) {
		v.c.textAlign = "center"; v.c.fillStyle = style("--soft"); v.c.fillText("not read", (left + right) / 2, top + height / 2);
	}
	v.c.restore();
}
function sum(o, r) {
	if (!o.ring) { return 0; }
	let v = 0;
	for (let k = r.from + 1; k <= r.to; k++) { v += o.ring[k % S.n]; }
	return v;
}
function inRange(o, r) { return r.all ? o.value : sum(o, r); }

// ---- sections ----------------------------------------------------------------------------------
function section(d) {
	const a = Object.assign({ series: new Map(), buckets: new Map(), names: [], kinds: "", folded: 0, changed: true, sort: null, shown: 25, rows: [] }, d);
	const label = d.name ? "@" + d.name : d.function + "()";
	a.unit = d.kind === "count" || d.kind === "stacks" && d.function !== "sum" ? "" : unitOf(d.name);
	const el = a.el = make("section", "agg"), head = make("div", "head"), links = make("span", "links");
	el.dataset.program = d.program; el.dataset.name = d.name; el.dataset.kind = d.kind;
	const cut = d.function === "avg" || d.function === "stddev" ? " in whole numbers" : ""; // as D has them everywhere; /metrics has an average's sum and count
	head.append(make("h2", "", label), make("span", "what", d.function + "()" + cut + (d.keys.length ? " by " + d.keys.join(", ") : "") + " \u2014 " + d.program));
	if (d.help) { head.append(make("p", "small", d.help)); }
	const q = "?program=" + encodeURIComponent(d.program) + "&aggregation=" + encodeURIComponent(d.name);
	(d.kind === "stacks" ? [["folded", "/folded" + q], ["pprof", "/debug/pprof/profile" + q + "&seconds=0"]] : [["raw", "/metrics"]]).forEach((l) => {
		const link = make("a", "", l[0]);
		link.href = l[1]; links.append(link);
	});
	a.note = make("p", "small");
	if (d.kind !== "stacks" && d.keys.length) {
		a.filter = make("input", "filter"); a.filter.type = "search"; a.filter.placeholder = "Filter keys"; a.filter.setAttribute("aria-label", "Filter keys of " + label);
		a.filter.addEventListener("input", later); links.prepend(a.filter);
	}
	head.append(links); el.append(head);
	if (d.kind === "stacks") { flameOf(a, label); }
	if (d.kind === "histogram") {
		a.heat = make("figure", "heat"); a.heat.append(make("canvas"), make("output")); el.append(a.heat);
		a.heat.addEventListener("pointermove", (e) => tellHeat(a, e));
		a.heat.addEventListener("pointerleave", () => { $("output", a.heat).style.display = "none"; });
	}
	if (d.kind !== "stacks" && (d.keys.length || d.kind === "histogram")) { tableOf(a); }
	else if (d.kind !== "stacks") {
		a.big = make("div", "big"); const words = make("div"), line = make("div");
		a.bigValue = make("b"); a.bigWords = make("small"); words.append(a.bigValue, a.bigWords); line.append(make("canvas"));
		a.big.append(words, line); el.append(a.big);
	}
	el.append(a.note); $("main").append(el); watch.observe(el);
	return a;
}
const watch = new IntersectionObserver((list) => {
	list.forEach((e) => { e.target.seen = e.isIntersecting; });
	later();
}, { rootMargin: "300px" });

// Columns of a table: title, class, value for sorting, text.
function columns(a) {
	const u = a.unit, c = a.keys.map((k, i) => ({ title: k, cls: "t", of: (s) => (s.other ? "(other keys)" : s.key[i]), text: (v) => keyText(v) }));
	const put = (title, of, text, cls) => c.push({ title: title, cls: cls || "", of: of, text: text, number: true });
	if (a.kind === "histogram") {
		put("count", (s) => s.value, (v) => group.format(v));
		put("in range", (s, r) => inRange(s, r), (v) => group.format(v), "wide");
		[.5, .9, .99].forEach((f) => put("p" + f * 100 + " in range \u2264", (s, r) => quantile(a, bucketsIn(s, r), f), (v) => (v === null ? "-" : human(v, u)), f === .9 ? "wide" : ""));
	} else if (a.kind === "gauge") {
		put(a.function, (s) => s.value, (v) => human(v, u));
		put("change in range", (s, r) => sum(s, r), (v) => (v > 0 ? "+" : "") + human(v, u), "wide");
	} else {
		put("total", (s) => s.value, (v) => human(v, u));
		put("in range", (s, r) => inRange(s, r), (v) => human(v, u), "wide");
		put("per second", (s, r) => (r.seconds ? sum(s, r) / r.seconds : 0), (v) => perSecond(v, u));
	}
	return c;
}
// What a key's buckets had in a range. A key has no ring for each of its buckets, which would be large: its log has [step, bucket, difference] of each change.
function bucketsIn(s, r) {
	if (r.all) { return s.buckets; }
	if (s.cutOf === r) { return s.cut; }
	s.cutOf = r; s.cut = new Map();
	for (let i = 0; i < s.log.length; i += 3) {
		if (s.log[i] > r.from && s.log[i] <= r.to) { s.cut.set(s.log[i + 1], (s.cut.get(s.log[i + 1]) || 0) + s.log[i + 2]); }
	}
	return s.cut;
}
function quantile(a, buckets, f) {
	if (!buckets) { return null; }
	const list = Array.from(buckets).filter((b) => b[1] > 0).sort((x, y) => x[0] - y[0]), all = list.reduce((n, b) => n + b[1], 0);
	let n = 0;
	for (const b of list) {
		n += b[1];
		if (n >= f * all) { return b[0] < a.lows.length ? a.lows[b[0]] - 1 : Infinity; }
	}
	return null;
}
function tableOf(a) {
	const table = make("table", "live"), tr = make("tr");
	a.columns = columns(a); a.sort = { at: a.kind === "gauge" || a.kind === "histogram" ? a.keys.length : a.keys.length + 1, up: false };
	a.columns.forEach((c, i) => {
		const th = make("th", c.cls, c.title);
		th.tabIndex = 0;
		const turn = () => { a.sort = { at: i, up: a.sort.at === i ? !a.sort.up : !c.number }; later(); };
		th.addEventListener("click", turn);
		th.addEventListener("keydown", (e) => { if (e.key === "Enter") { turn(); } });
		tr.append(th);
	});
	tr.append(make("th", "s t", "over time"));
	a.head = tr; table.style.setProperty("--keys", Math.max(a.keys.length, 1));
	table.append(make("thead"), make("tbody")); table.tHead.append(tr); a.body = table.tBodies[0];
	a.more = make("button", "more"); a.more.type = "button"; a.more.addEventListener("click", () => { a.shown += 100; later(); });
	const across = make("div", "across");
	across.append(table); a.el.append(across, a.more);
}
function drawTable(a, r) {
	const want = a.filter ? a.filter.value.toLowerCase() : "", c = a.columns[a.sort.at], up = a.sort.up ? 1 : -1;
	let list = [];
	a.series.forEach((s) => { if (!want || s.text.toLowerCase().includes(want)) { list.push([c.of(s, r), s]); } });
	list.sort((x, y) => {
		const p = x[0], q = y[0];
		return (p === q ? y[1].value - x[1].value || x[1].id - y[1].id : (p === null ? -1 : q === null ? 1 : p < q ? -1 : 1) * up);
	});
	Array.from(a.head.cells).forEach((th, i) => {
		if (i === a.sort.at) { th.setAttribute("aria-sort", a.sort.up ? "ascending" : "descending"); } else { th.removeAttribute("aria-sort"); }
	});
	const n = Math.min(list.length, a.shown);
	while (a.rows.length < n) {
		const tr = make("tr"), cells = a.columns.map((k) => make("td", k.cls)), last = make("td", "s"), canvas = make("canvas");
		last.append(canvas); cells.forEach((x) => tr.append(x)); tr.append(last); a.body.append(tr);
		a.rows.push({ tr: tr, cells: cells, canvas: canvas });
	}
	while (a.rows.length > n) { a.rows.pop().tr.remove(); }
	for (let i = 0; i < n; i++) {
		const s = list[i][1], row = a.rows[i];
		a.columns.forEach((k, j) => {
			const v = k.of(s, r), text = k.text(v);
			set(row.cells[j], text);
			row.cells[j].dataset.v = v === null ? "" : keyText(v);
			row.cells[j].title = k.number && v !== null ? group.format(v) : text;
		});
		if (s.other) { row.cells[0].classList.add("none"); } else if (row.cells[0]) { row.cells[0].classList.remove("none"); }
		spark(row.canvas, s, r, 22, a.kind === "gauge");
	}
	set(a.more, "Show more of " + group.format(list.length) + " keys");
	a.more.hidden = list.length <= n;
	a.el.dataset.keys = a.series.size;
}
// A curve of what each step added a second, or of a gauge's value, in parts between which are holes: { hole, from, to, points }.
function curveParts(o, r, gauge) {
	const parts = [];
	let v = o.value;
	if (gauge && o.ring) { for (let k = S.last; k > r.from; k--) { v -= o.ring[k % S.n]; } }
	for (let k = r.from + 1; k <= r.to; k++) {
		const from = S.times[(k - 1) % S.n], to = S.times[k % S.n], x = o.ring ? o.ring[k % S.n] : 0, hole = isHole(k);
		let part = parts[parts.length - 1];
		v += x;
		if (!part || part.hole || hole) { parts.push(part = { hole: hole, from: from, points: [] }); }
		part.to = to;
		if (!hole) { part.points.push([to, gauge ? v : x / ((to - from) / 1000 || 1)]); }
	}
	return parts;
}
// The line of a part, and the surface under it.
function drawPart(v, part, x, y, base, line) {
	v.c.beginPath(); v.c.moveTo(x(part.from), y(part.points[0][1]));
	part.points.forEach((p) => v.c.lineTo(x(p[0]), y(p[1])));
	if (line) { v.c.strokeStyle = style("--accent"); v.c.lineWidth = 1.3; v.c.stroke(); }
	v.c.lineTo(x(part.to), base); v.c.lineTo(x(part.from), base);
	v.c.globalAlpha = line ? .22 : .5; v.c.fillStyle = style("--bar"); v.c.fill(); v.c.globalAlpha = 1;
}
function spark(canvas, o, r, height, gauge) {
	const v = canvasOf(canvas, height), parts = curveParts(o, r, gauge), x = placeOf(r, v.w);
	let least = gauge ? Infinity : 0, most = gauge ? -Infinity : 0;
	parts.forEach((part) => part.points.forEach((p) => { least = Math.min(least, p[1]); most = Math.max(most, p[1]); }));
	const y = (n) => (most > least ? height - 2 - (n - least) / (most - least) * (height - 5) : gauge ? height / 2 : height - 2);
	v.c.strokeStyle = style("--rule"); v.c.lineWidth = 1; v.c.beginPath(); v.c.moveTo(0, height - 1.5); v.c.lineTo(v.w, height - 1.5); v.c.stroke();
	parts.forEach((part) => {
		if (part.hole) { drawHole(v, x(part.from), x(part.to), 0, height - 2); } else { drawPart(v, part, x, y, height - 1.5, true); }
	});
}

// ---- a number without a key, a histogram, stacks --------------------------------------------------
function drawBig(a, r) {
	const s = a.series.values().next().value || { value: 0, ring: null };
	set(a.bigValue, human(s.value, a.unit)); a.bigValue.dataset.v = s.value; a.bigValue.title = group.format(s.value);
	set(a.bigWords, a.kind === "gauge" ? a.function + "()" : perSecond(r.seconds ? sum(s, r) / r.seconds : 0, a.unit) + " a second, " + human(inRange(s, r), a.unit) + " in range");
	spark($("canvas", a.big), s, r, 64, a.kind === "gauge");
}
// The columns of a range: a step, or as many as fill four pixels; a hole is a column of its own.
function heatColumns(r, width) {
	const x = placeOf(r, width), list = [];
	for (let k = r.from + 1; k <= r.to; k++) {
		const hole = isHole(k), before = list[list.length - 1];
		if (hole || !before || before.hole || before.right - before.left >= 4) {
			list.push({ hole: hole, from: k - 1, to: k, left: x(S.times[(k - 1) % S.n]), right: x(S.times[k % S.n]) });
		} else {
			before.to = k; before.right = x(S.times[k % S.n]);
		}
	}
	return list;
}
function drawHeat(a, r) {
	const used = Array.from(a.buckets.keys()).filter((k) => a.buckets.get(k).value || sum(a.buckets.get(k), r)).sort((x, y) => x - y);
	const rows = [], LEFT = 92, CELL = 20, canvas = $("canvas", a.heat);
	if (!used.length) { a.heat.hidden = true; return; }
	a.heat.hidden = false;
	for (let k = used[0]; k <= used[used.length - 1] && rows.length < 64; k++) { rows.push(k); }
	// Beside the time stands the sum of the range, as a bar.
	const v = canvasOf(canvas, rows.length * CELL + 22), BAR = Math.min(220, v.w * .25), width = Math.max(v.w - LEFT - BAR - 14, 40);
	const list = heatColumns(r, width), cells = rows.map((k) => list.map((c) => (a.buckets.has(k) ? sum(a.buckets.get(k), c) : 0)));
	let most = 1, mostBar = 1;
	const bars = rows.map((k) => { const b = a.buckets.get(k), n = b ? inRange(b, r) : 0; mostBar = Math.max(mostBar, n); return n; });
	cells.forEach((row) => row.forEach((n, i) => { if (!list[i].hole) { most = Math.max(most, n); } }));
	const ramp = ["--cold", "--warm", "--hot"].map((x) => rgb(style(x)));
	v.c.fillStyle = style("--card"); v.c.fillRect(LEFT, 0, width, rows.length * CELL);
	rows.forEach((k, y) => {
		const top = (rows.length - 1 - y) * CELL;
		v.c.textAlign = "right"; v.c.fillStyle = style("--soft");
		v.c.fillText(k ? "\u2265 " + human(a.lows[k - 1], a.unit) : "lower", LEFT - 8, top + CELL / 2);
		list.forEach((c, i) => {
			const left = LEFT + Math.floor(c.left);
			if (c.hole || cells[y][i] <= 0) { return; }
			v.c.fillStyle = shade(ramp, Math.log(cells[y][i] + 1) / Math.log(most + 1));
			v.c.fillRect(left, top, Math.max(LEFT + Math.floor(c.right) - left, 1), CELL - 1);
		});
		v.c.fillStyle = style("--bar"); v.c.fillRect(LEFT + width + 10, top + 2, bars[y] / mostBar * (BAR - 60), CELL - 5);
		v.c.fillStyle = style("--ink"); v.c.textAlign = "left";
		if (bars[y]) { v.c.fillText(short.format(bars[y]), LEFT + width + 14 + bars[y] / mostBar * (BAR - 60), top + CELL / 2); }
	});
	list.forEach((c) => { if (c.hole) { drawHole(v, LEFT + c.left, LEFT + c.right, 0, rows.length * CELL); } });
	axis(v, LEFT, width, r, v.h - 11);
	a.heatView = { LEFT: LEFT, CELL: CELL, width: width, rows: rows, cells: cells, columns: list, bars: bars };
	canvas.dataset.left = LEFT; canvas.dataset.width = width; a.heat.dataset.total = bars.reduce((n, x) => n + x, 0);
}
function tellHeat(a, e) {
	const v = a.heatView, out = $("output", a.heat), box = a.heat.getBoundingClientRect(), px = e.clientX - box.left, x = px - v.LEFT;
	const y = v.rows.length - 1 - Math.floor((e.clientY - box.top) / v.CELL), k = v.rows[y], i = v.columns.findIndex((c) => x >= c.left && x < c.right), c = v.columns[i];
	if (k === undefined || x < 0 || x < v.width && !c) { out.style.display = "none"; return; }
	const from = k ? "\u2265 " + human(a.lows[k - 1], a.unit) : "lower", time = c ? clock(S.times[c.from % S.n]) + " \u2013 " + clock(S.times[c.to % S.n]) : "";
	out.textContent = c ? time + (c.hole ? ", not read" : "") + "\n" + from + ": " + group.format(v.cells[y][i]) : from + ": " + group.format(v.bars[y]) + " in range";
	out.style.display = "block"; out.style.top = (e.clientY - box.top + 14) + "px";
	out.style.left = Math.max(0, Math.min(px + 14, box.width - out.offsetWidth)) + "px";
}
function flameOf(a, label) {
	const div = make("div", "flame"), tools = make("div", "tools"), input = make("input"), reset = make("button", "", "Reset zoom"), legend = make("span", "legend"), stage = make("div", "stage"), canvas = make("canvas"), told = make("p", "told");
	input.type = "search"; input.placeholder = "Search: text or regular expression"; input.setAttribute("aria-label", "Search for names"); input.spellcheck = false;
	reset.type = "button"; reset.disabled = true;
	[["e", "key"], ["u", "user"], ["k", "kernel"]].forEach((x) => legend.append(make("i", x[0], x[1])));
	tools.append(input, reset, make("span", "found"), legend);
	canvas.tabIndex = 0; canvas.setAttribute("role", "application"); canvas.setAttribute("aria-label", "Flame graph of " + label + "; arrow keys walk through it, Enter zooms, Escape resets, / searches");
	stage.append(canvas); div.append(tools, stage, make("output"), told); a.el.append(div);
	a.flameDiv = div; a.label = label;
}
// The series in the order of their paths, so that callers are shared.
function flameData(a, r) {
	const data = { unit: a.unit, names: [a.label].concat(a.names), kinds: "0" + a.kinds, stacks: [] };
	if (a.changed) {
		const rank = new Int32Array(a.names.length);
		Array.from(a.names.keys()).sort((x, y) => (a.names[x] < a.names[y] ? -1 : a.names[x] > a.names[y] ? 1 : x - y)).forEach((n, i) => { rank[n] = i; });
		a.paths = Array.from(a.series.values()).sort((x, y) => {
			for (let i = 0; i < x.key.length && i < y.key.length; i++) { if (x.key[i] !== y.key[i]) { return rank[x.key[i]] - rank[y.key[i]]; } }
			return x.key.length - y.key.length;
		});
		a.changed = false;
	}
	let before = [];
	a.negative = 0;
	a.paths.forEach((s) => {
		const v = inRange(s, r);
		if (v < 0) { a.negative++; }
		if (v <= 0 || s.other) { return; }
		let common = 0;
		while (common < before.length && common < s.key.length && before[common] === s.key[common]) { common++; }
		data.stacks.push(common, v, s.key.length - common);
		for (let i = common; i < s.key.length; i++) { data.stacks.push(s.key[i] + 1); }
		before = s.key;
	});
	return data;
}
function drawFlame(a, r) {
	const data = flameData(a, r), text = JSON.stringify(data.stacks);
	if (text === a.drawnStacks && a.drawnWidth === a.el.clientWidth) { return; }
	a.drawnStacks = text; a.drawnWidth = a.el.clientWidth;
	if (!a.view) { a.view = window.tallyFlame.begin(a.flameDiv, data); } else { window.tallyFlame.renew(a.view, data); }
}

// ---- the head ------------------------------------------------------------------------------------
function axis(v, left, width, r, y) {
	const t0 = S.times[r.from % S.n], t1 = S.times[r.to % S.n], n = Math.max(2, Math.floor(width / 140));
	const digits = (t1 - t0) / (n - 1) < 1000 ? 1 : undefined; // of labels less than a second apart, which would be the same
	v.c.fillStyle = style("--soft");
	for (let i = 0; t1 > t0 && i < n; i++) {
		const f = i / (n - 1);
		v.c.textAlign = i === 0 ? "left" : i === n - 1 ? "right" : "center";
		v.c.fillText(clock(t0 + (t1 - t0) * f, digits), left + f * width, y);
	}
}
function drawTimeline(r) {
	const v = canvasOf($("#timeline canvas"), 46), all = { from: Math.min(S.first, S.last), to: S.last };
	const x = placeOf(all, v.w), parts = curveParts({ value: 0, ring: S.activity }, all, false), most = parts.reduce((m, part) => part.points.reduce((n, p) => Math.max(n, p[1]), m), 0) || 1;
	v.c.fillStyle = style("--card"); v.c.fillRect(0, 0, v.w, 32);
	parts.forEach((part) => {
		if (part.hole) { drawHole(v, x(part.from), x(part.to), 0, 32); } else { drawPart(v, part, x, (n) => 31 - n / most * 28, 31, false); }
	});
	for (let k = all.from + 1; k <= all.to; k++) {
		const from = x(S.times[(k - 1) % S.n]), to = x(S.times[k % S.n]);
		if (S.lostAt[k % S.n] <= S.lostAt[(k - 1) % S.n]) { continue; }
		v.c.fillStyle = style("--bad");
		if (isHole(k)) { v.c.fillRect(from, 0, to - from, 3); } else { v.c.fillRect(to - 1.5, 0, 3, 32); }
	}
	if (range.kind !== "all" || drag) {
		const a = drag ? Math.min(drag.a, drag.b) : x(S.times[r.from % S.n]), b = drag ? Math.max(drag.a, drag.b) : x(S.times[r.to % S.n]);
		v.c.fillStyle = style("--bg"); v.c.globalAlpha = .65; v.c.fillRect(0, 0, a, 32); v.c.fillRect(b, 0, v.w - b, 32); v.c.globalAlpha = 1;
		v.c.strokeStyle = style("--accent"); v.c.strokeRect(a + .5, .5, Math.max(b - a - 1, 1), 31);
	}
	axis(v, 0, v.w, all, 40);
	v.c.textAlign = "left"; v.c.fillStyle = style("--soft"); v.c.fillText("counts of all aggregations together, at most " + short.format(most) + " a second", 6, 8);
}
function drawPrograms(r) {
	const dl = $("#programs dl");
	while (dl.children.length > S.programs.length) { dl.lastChild.remove(); }
	S.programs.forEach((p, i) => {
		let div = dl.children[i];
		if (!div) {
			div = make("div"); const dd = make("dd"); dd.append(make("b"), make("span"));
			div.append(make("dt"), dd, make("p", "why small")); dl.append(div);
		}
		const lost = S.lost.filter((l) => l[0] === i).reduce((n, l) => n + l[2], 0);
		div.className = p[1]; div.dataset.program = p[0]; div.title = p[3];
		set($("dt", div), p[0]); set($("b", div), { running: "\u25cf running", failed: "\u2715 failed", ended: "\u25a0 ended" }[p[1]] || p[1]);
		set($("span", div), (S.fired[i] ? ", " + group.format(S.fired[i]) + " firings" : "") + (lost ? ", " + group.format(lost) + " lost" : ", nothing lost"));
		set($(".why", div), p[2]);
	});
	const kinds = {}, el = $("#lost");
	S.lost.forEach((l) => { kinds[l[1]] = (kinds[l[1]] || 0) + l[2]; });
	const words = Object.keys(kinds).map((k) => group.format(kinds[k]) + " " + (LOSSES[k] || k));
	set(el, words.length ? "Lost: " + words.join(", ") : "Nothing lost"); el.className = words.length ? "some" : ""; el.dataset.v = total();
	const back = (S.times[S.last % S.n] - S.times[Math.min(S.first, S.last) % S.n]) / 1000;
	let hole = false;
	for (let k = Math.min(S.first, S.last) + 1; k <= S.last; k++) { hole = hole || isHole(k); }
	set($("#reach"), "The history has " + Math.round(back) + " of " + Math.round(S.span / 1000) + " seconds, a step each " + short.format(S.step / 1000) + " s. " +
		(range.kind === "all" ? "Totals are since each program began." : "Range: " + clock(S.times[r.from % S.n]) + " to " + clock(S.times[r.to % S.n]) + ".") +
		(hole ? " Hatched time was not read: what was counted in it is in sums alone." : ""));
}
function ranges() {
	const el = $("#ranges"), span = S.span;
	el.textContent = "";
	const list = [60e3, 300e3, 600e3, 3600e3].filter((ms) => ms < span).concat([span]).map((ms) => ({ kind: "last", ms: ms, title: ms < 60e3 ? ms / 1000 + " s" : ms % 3600e3 ? Math.round(ms / 60e3) + " min" : ms / 3600e3 + " h" }));
	list.concat([{ kind: "all", title: "All" }]).forEach((x) => {
		const b = make("button", "", x.title);
		b.type = "button"; b.addEventListener("click", () => { range = x; later(); }); b.range = x; el.append(b);
	});
}
function pressed() {
	Array.from($("#ranges").children).forEach((b) => b.setAttribute("aria-pressed", String(b.range.kind === range.kind && b.range.ms === range.ms)));
	$("#pause").setAttribute("aria-pressed", String(paused)); set($("#pause"), paused ? "Go on" : "Pause");
}

// ---- drawing ----------------------------------------------------------------------------------------
function draw() {
	frame = 0;
	if (!S) { return; }
	const r = steps();
	pressed(); drawTimeline(r); drawPrograms(r);
	S.aggs.forEach((a) => {
		if (!a.el.seen && S.series.size > 500) { return; }
		if (a.kind === "stacks") { drawFlame(a, r); }
		if (a.heat) { drawHeat(a, r); }
		if (a.big) { drawBig(a, r); }
		if (a.columns) { drawTable(a, r); }
		set(a.note, notes(a));
	});
	document.body.dataset.step = S.last - BASE; document.body.dataset.time = S.times[S.last % S.n]; document.body.dataset.steps = S.last - S.first + 1;
}
function notes(a) {
	const list = a.series.size ? [] : ["Nothing was counted yet."];
	if (a.folded) { list.push(group.format(a.folded) + " more keys are one row, (other keys)."); }
	if (a.negative) { list.push("Not drawn, since a sum below 0 has no width: " + group.format(a.negative) + (a.negative === 1 ? " stack." : " stacks.")); }
	return list.join(" ");
}
function later() { if (!frame) { frame = requestAnimationFrame(draw); } }

// ---- events --------------------------------------------------------------------------------------------
const handle = { state: begin, step: step, past: past };
function take(name, text) {
	const e = JSON.parse(text);
	if (paused && name !== "state") {
		waiting.push([name, e]);
		if (waiting.length > 2 * S.n) { connect(); }
		set($("#state"), "paused, " + waiting.length + " steps behind");
		return;
	}
	waiting = [];
	handle[name](e);
	heard = Date.now();
	later();
}
function state(word, cls) { const el = $("#state"); set(el, word); el.className = "pill " + cls; }
function connect() {
	if (source) { source.close(); }
	waiting = [];
	source = new EventSource("/live");
	source.onopen = () => state(paused ? "paused" : "live", paused ? "" : "live");
	source.onerror = () => state("not connected: trying again", "off");
	Object.keys(handle).forEach((name) => source.addEventListener(name, (e) => take(name, e.data)));
}
$("#pause").addEventListener("click", () => {
	paused = !paused;
	if (!paused) {
		const list = waiting;
		waiting = [];
		list.forEach((w) => handle[w[0]](w[1]));
	}
	state(paused ? "paused" : "live", paused ? "" : "live"); later();
});
(function () {
	const canvas = $("#timeline canvas"), at = (e) => e.clientX - canvas.getBoundingClientRect().left;
	function time(x) {
		const t0 = S.times[Math.min(S.first, S.last) % S.n], t1 = S.times[S.last % S.n];
		return t0 + (t1 - t0) * Math.min(Math.max(x / canvas.clientWidth, 0), 1);
	}
	canvas.addEventListener("pointerdown", (e) => { if (S) { drag = { a: at(e), b: at(e) }; canvas.setPointerCapture(e.pointerId); } });
	canvas.addEventListener("pointermove", (e) => { if (drag) { drag.b = at(e); later(); } });
	canvas.addEventListener("pointerup", () => {
		if (!drag) { return; }
		const a = time(Math.min(drag.a, drag.b)), b = time(Math.max(drag.a, drag.b));
		range = Math.abs(drag.a - drag.b) > 4 ? { kind: "between", from: a, to: b } : { kind: "all" };
		drag = null; later();
	});
	canvas.addEventListener("pointercancel", () => { drag = null; later(); });
})();
// A connection may stand while nothing comes: the service is busy, or stopped.
setInterval(() => {
	const silent = S && heard && !paused && source.readyState === EventSource.OPEN ? Date.now() - heard : 0;
	if (silent > 5 * S.step) { state("silent for " + Math.round(silent / 1000) + " s", "off"); } else if (silent) { state("live", "live"); }
}, 1000);
window.addEventListener("resize", later);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later);
connect();
})();
