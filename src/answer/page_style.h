/*
 * page_style.h: how an HTML page looks, as CSS that the preprocessor makes a
 * string of: no quotes other than ", no line may begin with '#'.
 */
/* clang-format off */
#ifndef TALLY_ANSWER_PAGE_STYLE_H
#define TALLY_ANSWER_PAGE_STYLE_H

#define AN_CSS(...) #__VA_ARGS__
#define AN_PAGE_STYLE AN_CSS( \
:root { color-scheme: light dark; --bg: #fbfbf9; --ink: #1c1e21; --soft: #5f666d; --rule: #dcdedb; --card: #ffffff; \
	--accent: #1f63a6; --bar: #7fadd8; --warn: #8a5a00; --bad: #a8261c; --cold: #e3edf7; --warm: #4a8ac4; --hot: #08284d } \
@media (prefers-color-scheme: dark) { \
	:root { --bg: #14161a; --ink: #e4e6e8; --soft: #9aa2aa; --rule: #31363c; --card: #1b1e23; \
		--accent: #7ab8f2; --bar: #3f78ad; --warn: #e3b341; --bad: #ff8a80; --cold: #1b2b3b; --warm: #3d82bf; \
		--hot: #e4f2ff } \
} \
body { margin: 0; background: var(--bg); color: var(--ink); font: 15px/1.5 system-ui, sans-serif } \
main, header { max-width: 76rem; margin: 0 auto; padding: 0 1.5rem } \
header { padding-top: 2rem } \
h1 { font-size: 1.5rem; font-weight: 600; margin: 0 0 .75rem; overflow-wrap: anywhere } \
h2 { font-size: 1.05rem; font-weight: 600; margin: 0 0 .5rem } \
nav { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; font-size: .9rem } \
nav a { color: var(--accent); text-decoration: none } \
nav a:hover { text-decoration: underline } \
section { margin: 2rem 0; min-width: 0 } \
.small, caption { color: var(--soft); font-size: .85rem; max-width: 60rem } \
.small { margin: .4rem 0 0 } \
.scroll { overflow: auto; max-height: 32rem } \
.scroll th { position: sticky; top: 0; background: var(--bg) } \
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: 1px; margin: 1px } \
dl div { background: var(--card); box-shadow: 0 0 0 1px var(--rule); padding: .5rem .8rem; min-width: 0 } \
dt { color: var(--soft); font-size: .82rem } \
dd { margin: 0; font-size: 1.05rem; font-variant-numeric: tabular-nums; overflow-wrap: anywhere } \
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem } \
th, td { padding: .25rem .8rem .25rem 0; text-align: right; white-space: nowrap } \
th { color: var(--soft); font-weight: 500; border-bottom: 1px solid var(--rule) } \
thead th[data-key] { cursor: pointer } \
th[aria-sort] { color: var(--ink) } \
tbody tr:hover { background: var(--card) } \
tbody td { border-bottom: 1px solid var(--rule) } \
.t { text-align: left } \
.bars td, .bars th { border: 0; padding-top: .1rem; padding-bottom: .1rem } \
.bars td.b { width: min(32rem, 45vw); padding-right: .4rem } \
.bars i { display: block; height: .85rem; background: var(--bar); min-width: 1px } \
figure { margin: 0; position: relative } \
canvas { width: 100%; display: block; touch-action: pan-y } \
output { position: absolute; top: 0; pointer-events: none; background: var(--card); border: 1px solid var(--rule); \
	padding: .3rem .6rem; font-size: .82rem; white-space: pre; font-variant-numeric: tabular-nums; display: none } \
ul { list-style: none; margin: 0; padding: 0; max-width: 60rem } \
li { padding: .3rem 0 .3rem .8rem; border-left: 3px solid var(--rule); margin: .4rem 0 } \
li.lost { border-color: var(--bad) } li.cannot { border-color: var(--warn) } \
li b { font-weight: 600 } \
footer { max-width: 76rem; margin: 0 auto; padding: 1rem 1.5rem 2rem; color: var(--soft); font-size: .85rem } \
@media print { nav, output { display: none } } )

/* clang-format on */
#endif
