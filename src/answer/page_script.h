/*
 * page_script.h: what an HTML page does: it draws time lines and heat maps on
 * canvases, shows the figures under the pointer, and sorts tables.  JavaScript
 * that the preprocessor makes a string of: every statement ends with a
 * semicolon, quotes are ", and there are no comments, so they stand here:
 *
 *	color(a, b, f)  between two colours of the style
 *	ticks(from, to) round places for the time axis
 *	frame(f)        a canvas of the figure's size in device pixels
 *	curve, strip    one line, and its place; perhaps with another one over it
 *	lines, heat     the two pictures; each returns what stands under a step
 *	draw(f)         picks one, remembers it for the pointer
 *
 * The content security policy lets this script run and no other: it names the
 * script's SHA-256, AN_PAGE_SCRIPT_HASH, which must be changed with it (a test
 * computes it anew).
 */
/* clang-format off */
#ifndef TALLY_ANSWER_PAGE_SCRIPT_H
#define TALLY_ANSWER_PAGE_SCRIPT_H

#define AN_JS(...) #__VA_ARGS__
#define AN_PAGE_SCRIPT_HASH "N5hRA/MjesfvjdLZTHWVfYbqogjRoaC3bhvONW+KiXw="
#define AN_PAGE_SCRIPT AN_JS( \
"use strict"; \
(function () { \
const LEFT = 92, RIGHT = 12, STRIP = 84, CELL = 24, FOOT = 26; \
const figures = document.querySelectorAll("figure"); \
const group = new Intl.NumberFormat("en"); \
function style(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); } \
function rgb(hex) { return [1, 3, 5].map(function (i) { return parseInt(hex.slice(i, i + 2), 16); }); } \
function color(a, b, f) { return "rgb(" + a.map(function (v, i) { return Math.round(v + (b[i] - v) * f); }) + ")"; } \
function shade(ramp, f) { \
	return f < .5 ? color(ramp[0], ramp[1], f * 2) : color(ramp[1], ramp[2], f * 2 - 1); \
} \
function ticks(from, to) { \
	let step = Math.pow(10, Math.floor(Math.log10((to - from) / 4 || 1))), list = []; \
	while ((to - from) / step > 9) { step *= (to - from) / step > 20 ? 5 : 2; } \
	for (let t = Math.ceil(from / step) * step; t <= to && list.length < 20; t += step) { list.push(t); } \
	return list; \
} \
function frame(f, height) { \
	const canvas = f.querySelector("canvas"), width = f.clientWidth, scale = window.devicePixelRatio || 1; \
	canvas.width = Math.round(width * scale); canvas.height = Math.round(height * scale); \
	canvas.style.height = height + "px"; \
	const c = canvas.getContext("2d"); \
	c.scale(scale, scale); c.font = "12px system-ui, sans-serif"; c.textBaseline = "middle"; \
	return { c: c, w: width - LEFT - RIGHT, h: height }; \
} \
function axis(v, d, n) { \
	const end = d.from + d.step * n; \
	v.c.fillStyle = style("--soft"); v.c.strokeStyle = style("--rule"); v.c.textAlign = "center"; v.c.beginPath(); \
	ticks(d.from, end).forEach(function (t) { \
		const x = LEFT + (t - d.from) / (end - d.from) * v.w; \
		v.c.moveTo(x, v.h - FOOT); v.c.lineTo(x, v.h - FOOT + 4); \
		v.c.fillText(group.format(t), Math.min(Math.max(x, LEFT + 4), LEFT + v.w - 24), v.h - FOOT + 14); \
	}); \
	v.c.stroke(); \
} \
function curve(v, s, base, most, high) { \
	const n = s.values.length; \
	v.c.beginPath(); v.c.moveTo(LEFT, base); \
	s.values.forEach(function (y, i) { \
		const h = base - y / most * high; \
		v.c.lineTo(LEFT + i / n * v.w, h); v.c.lineTo(LEFT + (i + 1) / n * v.w, h); \
	}); \
	v.c.lineTo(LEFT + v.w, base); \
} \
function strip(v, s, top, other) { \
	const most = Math.max.apply(null, other ? s.values.concat(other.values) : s.values) || 1; \
	const high = STRIP - 26, base = top + STRIP - 8; \
	v.c.textAlign = "left"; v.c.fillStyle = style("--ink"); v.c.fillText(s.title, LEFT, top + 9); \
	if (other) { v.c.fillText("- - -  " + other.title, LEFT + v.w / 2, top + 9); } \
	v.c.textAlign = "right"; v.c.fillStyle = style("--soft"); \
	v.c.fillText(group.format(most), LEFT - 8, base - high); v.c.fillText("0", LEFT - 8, base); \
	v.c.strokeStyle = style("--rule"); v.c.beginPath(); \
	v.c.moveTo(LEFT, base + .5); v.c.lineTo(LEFT + v.w, base + .5); v.c.stroke(); \
	curve(v, s, base, most, high); v.c.closePath(); \
	v.c.fillStyle = style("--bar"); v.c.globalAlpha = .45; v.c.fill(); v.c.globalAlpha = 1; \
	v.c.strokeStyle = style("--accent"); v.c.lineWidth = 1.2; v.c.stroke(); v.c.lineWidth = 1; \
	if (!other) { return; } \
	curve(v, other, base, most, high); \
	v.c.strokeStyle = style("--ink"); v.c.setLineDash([5, 3]); v.c.stroke(); v.c.setLineDash([]); \
} \
function lines(f, d) { \
	const n = d.series[0].values.length, shown = d.over ? [d.series[0]] : d.series; \
	const v = frame(f, shown.length * STRIP + FOOT); \
	shown.forEach(function (s, i) { strip(v, s, i * STRIP, d.over && d.series[1]); }); \
	axis(v, d, n); \
	return { n: n, tell: function (i) { \
		return d.series.map(function (s) { return s.title + "  " + group.format(s.values[i]); }).join("\n"); \
	} }; \
} \
function heat(f, d) { \
	const rows = d.rows, n = rows[0].counts.length, v = frame(f, rows.length * CELL + FOOT + 6); \
	const ramp = [rgb(style("--cold")), rgb(style("--warm")), rgb(style("--hot"))]; \
	const most = Math.max.apply(null, rows.map(function (r) { return Math.max.apply(null, r.counts); })) || 1; \
	rows.forEach(function (r, k) { \
		const y = (rows.length - 1 - k) * CELL; \
		v.c.textAlign = "right"; v.c.fillStyle = style("--soft"); \
		v.c.fillText("\u2265 " + group.format(r.from), LEFT - 8, y + CELL / 2); \
		r.counts.forEach(function (count, i) { \
			if (!count) { return; } \
			const x = LEFT + Math.floor(i / n * v.w), end = LEFT + Math.floor((i + 1) / n * v.w); \
			v.c.fillStyle = shade(ramp, Math.log(count) / (Math.log(most) || 1)); \
			v.c.fillRect(x, y, Math.max(end - x, 1), CELL - 1); \
		}); \
	}); \
	axis(v, d, n); \
	return { n: n, tell: function (i, y) { \
		const r = rows[rows.length - 1 - Math.floor(y / CELL)]; \
		return r ? "\u2265 " + group.format(r.from) + " ticks: " + group.format(r.counts[i]) : ""; \
	} }; \
} \
function draw(f) { \
	const d = f.data || (f.data = JSON.parse(f.querySelector("script").textContent)); \
	f.view = (d.rows ? heat : lines)(f, d); \
	f.dataset.drawn = f.view.n; \
} \
function point(f, e) { \
	const box = f.getBoundingClientRect(), out = f.querySelector("output"), w = box.width - LEFT - RIGHT; \
	const i = Math.floor((e.clientX - box.left - LEFT) / w * f.view.n), d = f.data; \
	const text = i >= 0 && i < f.view.n ? f.view.tell(i, e.clientY - box.top) : ""; \
	out.style.display = text ? "block" : "none"; \
	if (!text) { return; } \
	out.textContent = (d.over || "time") + " " + group.format(d.from + i * d.step) + "\n" + text; \
	const left = e.clientX - box.left + 14; \
	out.style.left = (left + out.offsetWidth > box.width ? left - out.offsetWidth - 28 : left) + "px"; \
} \
function sort(th) { \
	const body = th.closest("table").tBodies[0], k = th.cellIndex, text = th.classList.contains("t"); \
	const up = th.getAttribute("aria-sort") === (text ? null : "descending"); \
	function value(row) { const v = row.cells[k].dataset.v; return text ? v : v === "" ? -Infinity : Number(v); } \
	const rows = Array.from(body.rows).sort(function (a, b) { \
		const x = value(a), y = value(b); \
		return (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1); \
	}); \
	th.parentNode.querySelectorAll("[aria-sort]").forEach(function (o) { o.removeAttribute("aria-sort"); }); \
	th.setAttribute("aria-sort", up ? "ascending" : "descending"); \
	body.append.apply(body, rows); \
} \
function all() { figures.forEach(draw); } \
figures.forEach(function (f) { \
	f.addEventListener("pointermove", function (e) { point(f, e); }); \
	f.addEventListener("pointerleave", function () { f.querySelector("output").style.display = "none"; }); \
}); \
document.querySelectorAll("thead th[data-key]").forEach(function (th) { \
	th.addEventListener("click", function () { sort(th); }); \
}); \
window.addEventListener("resize", all); \
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", all); \
all(); \
})(); )

/* clang-format on */
#endif
