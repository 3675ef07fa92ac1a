/*
 * page_flame_style.h: how a flame graph looks, as CSS that stands behind that of the page (page_style.h, which has the
 * rules of such text). The page is as wide as the window: a graph is read by widths.
 */
/* clang-format off */
#ifndef TALLY_ANSWER_PAGE_FLAME_STYLE_H
#define TALLY_ANSWER_PAGE_FLAME_STYLE_H

#include "answer/page_style.h"

#define AN_FLAME_STYLE AN_CSS( \
:root { --user: #c5dbf0; --kernel: #f0d9ab; --key: #e4e6e2; --hit: #ffd84d; --edge: #5f666d } \
@media (prefers-color-scheme: dark) { \
	:root { --user: #274a6b; --kernel: #644d1c; --key: #2c3137; --hit: #8f7200; --edge: #9aa2aa } \
} \
main, header { max-width: none } \
.tools { display: flex; flex-wrap: wrap; align-items: center; gap: .4rem .8rem; margin: 0 0 .5rem; font-size: .9rem } \
.tools input { font: inherit; flex: 0 1 22rem; min-width: 9rem; padding: .3rem .6rem; color: inherit; background: var(--card); \
	border: 1px solid var(--rule); border-radius: 3px } \
.tools input:invalid { border-color: var(--bad) } \
.tools button { font: inherit; padding: .3rem .8rem; color: var(--accent); background: var(--card); border: 1px solid var(--rule); \
	border-radius: 3px; cursor: pointer } \
.tools button:disabled { color: var(--soft); cursor: default; opacity: .6 } \
.tools input:focus-visible, .tools button:focus-visible, .flame canvas:focus-visible { outline: 2px solid var(--accent); outline-offset: -1px } \
.found { font-variant-numeric: tabular-nums } \
.legend { margin-left: auto; color: var(--soft); display: flex; gap: .9rem } \
.legend i { font-style: normal; padding: 0 .5rem; color: var(--ink) } \
.legend .k { background: var(--kernel); border-left: 3px solid var(--edge); font-style: italic } \
.legend .u { background: var(--user) } \
.legend .e { background: var(--key); font-weight: 600 } \
.flame { position: relative } \
.stage { overflow: hidden auto; max-height: 85vh; scrollbar-gutter: stable } \
.flame canvas { cursor: pointer } \
.flame output { max-width: min(44rem, 90%); white-space: pre-wrap; overflow-wrap: anywhere; z-index: 1 } \
.told { margin: .4rem 0 0; min-height: 1.5em; font-size: .9rem; overflow-wrap: anywhere; font-variant-numeric: tabular-nums } \
td.t { white-space: normal; overflow-wrap: anywhere; max-width: 60rem } \
pre { overflow: auto; max-height: 32rem; margin: 0; font-size: .85rem; line-height: 1.35 } \
@media (max-width: 40rem) { main, header { padding: 0 .6rem } .legend { margin-left: 0 } .tools input { flex: 1 1 100% } } \
@media print { .tools input, .tools button { display: none } .scroll, .stage, pre { max-height: none } } )

/* clang-format on */
#endif
