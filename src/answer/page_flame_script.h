/*
 * page_flame_script.h: what a flame graph does on a page: it is drawn, zoomed, searched and walked through by keys.
 * JavaScript as in page_script.h, whose rules it follows; it stands in pages that have such a graph, and has a SHA-256
 * of its own in the content security policy, AN_FLAME_SCRIPT_HASH (a test computes it anew).
 *
 * Nodes are numbers in preorder, and what is known of them stands in arrays: behind a node come those below it, up to
 * end[node]. So a frame that is narrower than half a pixel is passed over with all that is below it, and drawing costs
 * what is seen, not what there is.
 *
 *	load(d)         the data that page_flame.c wrote, to such arrays
 *	lay(v)          the boxes that are seen: rows of [node, left, width]
 *	box(v, ...)     one of them: a frame of the kernel has a bar at its left and slanted letters, a key bold ones
 *	draw(v)         all of them, the callers of the zoomed frame above it over the whole width
 *	search(v)       which names match, and the share of the frames that have them, each path counted once
 *	zoom(v, node), pick(v, node), tell(v, node), under(v, event)
 *	find(g, path)   the node of these names, or the lowest of its callers that there is
 *	renew(v, data)  other data in place of what is shown; zoom, pick and search stay, by their names
 *
 * A page whose data comes later calls window.tallyFlame.begin(div, data) and .renew(v, data).
 */
/* clang-format off */
#ifndef TALLY_ANSWER_PAGE_FLAME_SCRIPT_H
#define TALLY_ANSWER_PAGE_FLAME_SCRIPT_H

#include "answer/page_script.h"

#define AN_FLAME_SCRIPT_HASH "FCLFSGG4k3Zif/xR/PQESoga74rIIGE/TwpN2JaBYi8="
#define AN_FLAME_SCRIPT AN_JS( \
"use strict"; \
(function () { \
const ROW = 20, LEAST = .5, FONT = "12px system-ui, sans-serif"; \
const KINDS = ["--key", "--user", "--kernel"], FONTS = ["600 " + FONT, FONT, "italic " + FONT], WORDS = ["", "user", "kernel"]; \
const group = new Intl.NumberFormat("en"); \
function style(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); } \
function mix(a, b, f) { \
	return "#" + [1, 3, 5].map(function (i) { \
		const x = parseInt(a.slice(i, i + 2), 16), y = parseInt(b.slice(i, i + 2), 16); \
		return Math.round(x + (y - x) * f).toString(16).padStart(2, "0"); \
	}).join(""); \
} \
function shade_of(name) { \
	let h = 0; \
	for (let i = 0; i < name.length; i++) { h = (h * 31 + name.charCodeAt(i)) % 65521; } \
	return h % 3; \
} \
function load(d) { \
	const s = d.stacks; \
	let n = 1, at = 1, sum = 0; \
	for (let i = 0; i < s.length; i += 3 + s[i + 2]) { n += s[i + 2]; } \
	const g = { unit: d.unit, text: d.names, kind: d.kinds, n: n, name: new Int32Array(n), parent: new Int32Array(n), \
		depth: new Int32Array(n), end: new Int32Array(n), self: new Float64Array(n), total: new Float64Array(n), \
		start: new Float64Array(n), shade: d.names.map(shade_of) }; \
	const path = [0]; \
	function leave(least) { while (path.length > least) { g.end[path.pop()] = at; } } \
	for (let i = 0; i < s.length; i += 3 + s[i + 2]) { \
		leave(s[i] + 1); \
		for (let k = 0; k < s[i + 2]; k++) { \
			g.name[at] = s[i + 3 + k]; g.parent[at] = path[path.length - 1]; g.depth[at] = path.length; \
			g.start[at] = sum; path.push(at); at++; \
		} \
		g.self[path[path.length - 1]] += s[i + 1]; sum += s[i + 1]; \
	} \
	leave(0); \
	for (let i = n - 1; i >= 0; i--) { \
		g.total[i] += g.self[i]; \
		if (i) { g.total[g.parent[i]] += g.total[i]; } \
	} \
	return g; \
} \
function lay(v) { \
	const g = v.g, scale = g.total[v.zoom] ? v.width / g.total[v.zoom] : 0, from = g.start[v.zoom]; \
	v.rows = []; \
	for (let up = v.zoom; up; ) { up = g.parent[up]; v.rows[g.depth[up]] = [[up, 0, v.width]]; } \
	for (let i = v.zoom; i < g.end[v.zoom]; ) { \
		const width = g.total[i] * scale; \
		if (width < LEAST) { i = g.end[i]; continue; } \
		(v.rows[g.depth[i]] = v.rows[g.depth[i]] || []).push([i, (g.start[i] - from) * scale, width]); \
		i++; \
	} \
	v.height = Math.max(v.height, v.rows.length * ROW + 1); \
} \
function fit(v, text, font, room) { \
	const c = v.c; \
	c.font = font; \
	if (c.measureText(text).width <= room) { return text; } \
	let low = 0, high = Math.min(text.length, Math.ceil(room / 3)); \
	while (low < high) { \
		const half = (low + high + 1) >> 1; \
		if (c.measureText(text.slice(0, half) + "\u2026").width <= room) { low = half; } else { high = half - 1; } \
	} \
	return low > 1 ? text.slice(0, low) + "\u2026" : ""; \
} \
function box(v, b, y) { \
	const c = v.c, g = v.g, name = g.name[b[0]], kind = +g.kind[name], hit = v.match && v.match[name]; \
	const x = b[1], w = Math.max(b[2] - 1, .5), above = g.depth[b[0]] < g.depth[v.zoom], bar = kind === 2 && w > 8 ? 3 : 0; \
	c.globalAlpha = above ? .55 : 1; \
	c.fillStyle = hit ? v.color.hit : v.color.fill[kind][g.shade[name]]; \
	c.fillRect(x, y + 1, w, ROW - 1); \
	if (bar) { c.fillStyle = v.color.edge; c.fillRect(x, y + 1, bar, ROW - 1); } \
	if (hit && w > 3) { c.strokeStyle = v.color.ink; c.lineWidth = 1.5; c.strokeRect(x + .75, y + 1.75, w - 1.5, ROW - 2.5); } \
	if (b[0] === v.pick) { c.strokeStyle = v.color.accent; c.lineWidth = 2; c.strokeRect(x + 1, y + 2, Math.max(w - 2, 1), ROW - 3); } \
	if (w > 24) { \
		c.fillStyle = v.color.ink; \
		c.fillText(fit(v, g.text[name], FONTS[kind], w - bar - 8), x + bar + 4, y + ROW / 2 + 1); \
	} \
	c.globalAlpha = 1; \
} \
function draw(v) { \
	const canvas = v.canvas, scale = window.devicePixelRatio || 1; \
	let drawn = 0; \
	v.width = v.stage.clientWidth; \
	lay(v); \
	canvas.width = Math.round(v.width * scale); canvas.height = Math.round(v.height * scale); \
	canvas.style.height = v.height + "px"; \
	v.c = canvas.getContext("2d"); v.c.scale(scale, scale); v.c.textBaseline = "middle"; \
	v.color = { ink: style("--ink"), edge: style("--edge"), hit: style("--hit"), accent: style("--accent"), \
		fill: KINDS.map(function (k) { \
			return [0, .16, .32].map(function (f) { return mix(style(k), style("--bg"), f); }); \
		}) }; \
	v.rows.forEach(function (row, depth) { \
		row.forEach(function (b) { box(v, b, depth * ROW); drawn++; }); \
	}); \
	v.div.dataset.drawn = drawn; v.div.dataset.total = v.g.total[0]; v.div.dataset.shown = v.g.total[v.zoom]; \
} \
function share(part, whole) { return (100 * part / (whole || 1)).toFixed(part === whole ? 0 : 1) + " %"; } \
function amount(v, n) { return group.format(n) + (v.g.unit ? " " + v.g.unit : ""); } \
function tell(v, node) { \
	const g = v.g, kind = WORDS[+g.kind[g.name[node]]]; \
	return g.text[g.name[node]] + (kind ? "  (" + kind + ")" : "") + "\n" + amount(v, g.total[node]) + ", " + \
		share(g.total[node], g.total[0]) + (v.zoom ? " of all, " + share(g.total[node], g.total[v.zoom]) + " of what is shown" : "") + \
		"; itself " + amount(v, g.self[node]) + ", " + share(g.self[node], g.total[0]); \
} \
function under(v, e) { \
	const area = v.canvas.getBoundingClientRect(), x = e.clientX - area.left; \
	const row = v.rows[Math.floor((e.clientY - area.top) / ROW)] || []; \
	const found = row.find(function (b) { return x >= b[1] && x < b[1] + Math.max(b[2], 1); }); \
	return found ? found[0] : -1; \
} \
function pick(v, node) { \
	const top = node < 0 ? 0 : v.g.depth[node] * ROW, stage = v.stage; \
	v.pick = node; v.told.textContent = node < 0 ? "" : tell(v, node).replace("\n", ": "); \
	draw(v); \
	stage.scrollTop = Math.min(Math.max(stage.scrollTop, top + ROW - stage.clientHeight), top); \
} \
function search(v) { \
	const q = v.input.value, g = v.g; \
	let test = null, names = 0, sum = 0; \
	v.match = null; v.found.textContent = ""; delete v.div.dataset.found; \
	if (q) { \
		try { const r = new RegExp(q, "i"); test = function (s) { return r.test(s); }; } \
		catch (e) { test = function (s) { return s.toLowerCase().includes(q.toLowerCase()); }; } \
		v.match = g.text.map(test); \
		v.match.forEach(function (hit) { names += hit ? 1 : 0; }); \
		for (let i = v.zoom; i < g.end[v.zoom]; ) { \
			if (v.match[g.name[i]]) { sum += g.total[i]; i = g.end[i]; } else { i++; } \
		} \
		v.div.dataset.found = sum; \
		v.found.textContent = share(sum, g.total[v.zoom]) + (v.zoom ? " of what is shown matches: " : " matches: ") + amount(v, sum) + \
			" in " + group.format(names) + (names === 1 ? " name" : " names"); \
	} \
} \
function path_of(g, node) { \
	const path = []; \
	for (let at = node; at > 0; at = g.parent[at]) { path.unshift(g.kind[g.name[at]] + g.text[g.name[at]]); } \
	return path; \
} \
function find(g, path) { \
	let at = 0; \
	for (let k = 0; k < path.length; k++) { \
		let below = at + 1; \
		while (below < g.end[at] && g.kind[g.name[below]] + g.text[g.name[below]] !== path[k]) { below = g.end[below]; } \
		if (below >= g.end[at]) { return [at, k]; } \
		at = below; \
	} \
	return [at, path.length]; \
} \
function renew(v, data) { \
	const picked = v.pick < 0 ? null : path_of(v.g, v.pick); \
	v.g = load(data); v.zoom = find(v.g, v.path)[0]; v.pick = -1; \
	if (picked) { \
		const f = find(v.g, picked); \
		v.pick = f[1] === picked.length ? f[0] : -1; \
	} \
	v.told.textContent = v.pick < 0 ? "" : tell(v, v.pick).replace("\n", ": "); \
	search(v); draw(v); \
} \
function zoom(v, node) { \
	v.path = path_of(v.g, node); \
	v.zoom = node; v.reset.disabled = !node; v.div.dataset.zoom = v.g.text[v.g.name[node]]; \
	search(v); pick(v, node ? node : -1); \
} \
function step(v, key) { \
	const g = v.g, at = v.pick < 0 ? v.zoom : v.pick, row = v.rows[g.depth[at]] || []; \
	const k = row.findIndex(function (b) { return b[0] === at; }); \
	if (v.pick < 0) { return at; } \
	if (key === "ArrowUp") { return at ? g.parent[at] : 0; } \
	if (key === "ArrowLeft") { return k > 0 ? row[k - 1][0] : at; } \
	if (key === "ArrowRight") { return k >= 0 && k + 1 < row.length ? row[k + 1][0] : at; } \
	let best = at, widest = 0; \
	(v.rows[g.depth[at] + 1] || []).forEach(function (b) { \
		if (g.parent[b[0]] === at && b[2] > widest) { best = b[0]; widest = b[2]; } \
	}); \
	return best; \
} \
function key(v, e) { \
	const typing = e.target === v.input; \
	if (e.key === "Escape" && v.input.value) { v.input.value = ""; search(v); draw(v); } \
	else if (e.key === "Escape") { zoom(v, 0); } \
	else if (e.key === "/" && !typing) { v.input.focus(); } \
	else if (e.target === v.canvas && e.key.startsWith("Arrow")) { pick(v, step(v, e.key)); } \
	else if (e.target === v.canvas && (e.key === "Enter" || e.key === " ")) { zoom(v, Math.max(v.pick, 0)); } \
	else { return; } \
	e.preventDefault(); \
} \
function begin(div, data) { \
	const v = { div: div, stage: div.querySelector(".stage"), canvas: div.querySelector("canvas"), out: div.querySelector("output"), input: div.querySelector("input"), \
		reset: div.querySelector("button"), found: div.querySelector(".found"), told: div.querySelector(".told"), \
		g: load(data), path: [], zoom: 0, pick: -1, height: 0, match: null, rows: [] }; \
	function hide() { v.out.style.display = "none"; } \
	v.canvas.addEventListener("pointermove", function (e) { \
		const node = under(v, e), area = div.getBoundingClientRect(); \
		if (node < 0) { hide(); return; } \
		v.out.textContent = tell(v, node); v.out.style.display = "block"; \
		const left = e.clientX - area.left + 14, top = e.clientY - area.top + 18; \
		v.out.style.left = Math.max(0, Math.min(left, area.width - v.out.offsetWidth)) + "px"; \
		v.out.style.top = top + "px"; \
	}); \
	v.canvas.addEventListener("pointerleave", hide); \
	v.canvas.addEventListener("click", function (e) { \
		const node = under(v, e); \
		hide(); \
		if (node >= 0) { zoom(v, node); } \
	}); \
	v.reset.addEventListener("click", function () { zoom(v, 0); v.canvas.focus(); }); \
	v.input.addEventListener("input", function () { search(v); draw(v); }); \
	div.addEventListener("keydown", function (e) { if (!e.ctrlKey && !e.metaKey && !e.altKey) { key(v, e); } }); \
	draw(v); \
	return v; \
} \
const views = Array.from(document.querySelectorAll(".flame")).map(function (div) { \
	return begin(div, JSON.parse(div.querySelector("script").textContent)); \
}); \
window.tallyFlame = { renew: renew, begin: function (div, data) { \
	const v = begin(div, data); \
	views.push(v); \
	return v; \
} }; \
function all() { views.forEach(function (v) { v.height = 0; draw(v); }); } \
window.addEventListener("resize", all); \
window.addEventListener("beforeprint", all); \
window.addEventListener("afterprint", all); \
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", all); \
})(); )

/* clang-format on */
#endif
