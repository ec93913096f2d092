#pragma once

namespace command {

/// The style of a report: one column on narrow screens, light or dark as the reader's system is.
inline constexpr const char* page_style = R"css(
:root { color-scheme: light dark; --paper: #fff; --ink: #1c1f24; --faint: #d9dde3; --soft: #58606c;
  --model: #1f5fbf; --band: #a9c3ea; --sample: #7a828e; --place: #4b525c; --one: #b8521a; --positive: #c0392b;
  --negative: #2166ac; --c0: #0072b2; --c1: #d55e00; --c2: #00875f; --c3: #b0569a; --c4: #b58900; --c5: #3b9fd6;
  --c6: #7f5539; --c7: #6b5fd0; --other: #7a828e; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #15181d; --ink: #e6e9ee; --faint: #2f3640; --soft: #a3adba;
    --model: #7db2ff; --band: #34507c; --sample: #97a1af; --place: #c3cad4; --one: #f0a06a; --positive: #ff7b6e;
    --negative: #6aa9ff; --c0: #5db3f0; --c1: #ff8f4a; --c2: #35c99a; --c3: #e394cf; --c4: #e3bd4a; --c5: #9ad7ff;
    --c6: #c99a78; --c7: #aaa0ff; --other: #97a1af; }
}
body { background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; margin: 0 auto;
  max-width: 72rem; padding: 1rem; overflow-wrap: break-word; }
h1 { font-size: 1.5rem; margin: 0.5rem 0; } h2 { font-size: 1.2rem; margin: 1.75rem 0 0.5rem; }
h3 { font-size: 1rem; margin: 1rem 0 0.25rem; }
p, dl { max-width: 45rem; } code, pre { font: 0.85rem/1.45 ui-monospace, monospace; }
pre { white-space: pre-wrap; border: 1px solid var(--faint); padding: 0.75rem; }
.pictures { display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); }
figure { margin: 0; } figcaption { color: var(--soft); font-size: 0.85rem; padding-left: 0.5rem; }
.key { margin-right: 0.9rem; display: inline-block; } .key i { display: inline-block; margin-right: 0.35rem; }
.dot { width: 0.55rem; height: 0.55rem; border-radius: 50%; background: currentColor; }
.ring { width: 0.5rem; height: 0.5rem; border-radius: 50%; border: 1.5px solid currentColor; }
.key .line { width: 1.1rem; border-top: 2px solid currentColor; vertical-align: middle; }
.swatch { width: 0.7rem; height: 0.7rem; background: currentColor; border: 1px solid var(--soft); }
svg { width: 100%; height: auto; display: block; } svg text { fill: var(--ink); font-size: 12px; }
svg text.title { font-size: 13px; font-weight: 600; }
.axis { stroke: var(--soft); } .grid { stroke: var(--faint); stroke-width: 0.7; }
.model { fill: none; stroke: var(--model); stroke-width: 1.8; } .band { fill: var(--band); fill-opacity: 0.7; }
.part { fill: none; stroke: var(--one); stroke-width: 1; stroke-opacity: 0.8; }
.sample { fill: var(--sample); fill-opacity: 0.65; } .place { fill: var(--place); fill-opacity: 0.5; }
.kernel { fill: none; stroke: var(--ink); stroke-width: 1.2; } .center { fill: var(--ink); stroke: var(--paper); }
.wrong { fill: none; stroke: var(--ink); stroke-width: 1; }
.diagonal { fill: none; stroke: var(--ink); stroke-width: 1.2; stroke-dasharray: 5 4; }
.above { fill: var(--positive); } .below { fill: var(--negative); } svg .line { fill: none; stroke-width: 1.8; }
.c0 { fill: var(--c0); stroke: var(--c0); } .c1 { fill: var(--c1); stroke: var(--c1); }
.c2 { fill: var(--c2); stroke: var(--c2); } .c3 { fill: var(--c3); stroke: var(--c3); }
.c4 { fill: var(--c4); stroke: var(--c4); } .c5 { fill: var(--c5); stroke: var(--c5); }
.c6 { fill: var(--c6); stroke: var(--c6); } .c7 { fill: var(--c7); stroke: var(--c7); }
.other { fill: var(--other); stroke: var(--other); } rect, svg circle { stroke-width: 0; }
.wrong circle { stroke-width: 1; }
.table { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.9rem; }
th, td { padding: 0.2rem 0.6rem; text-align: right; border-bottom: 1px solid var(--faint); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; white-space: normal; vertical-align: bottom; } table { overflow-wrap: normal; } th:first-child, td:first-child { padding-left: 0; }
.note, .width { color: var(--soft); font-size: 0.85rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 1rem; font-size: 0.9rem; }
dt { color: var(--soft); } dt.of { grid-column: 1 / -1; color: var(--ink); font-weight: 600; margin-top: 0.5rem; }
dd { margin: 0; } summary { cursor: pointer; }
@media (max-width: 34rem) {
  svg text { font-size: 14px; } svg text.title { font-size: 15px; } th, td { padding: 0.2rem 0.4rem; }
  dl { grid-template-columns: 1fr; } dd { margin-bottom: 0.4rem; }
}
)css";

}  // namespace command
