#pragma once

namespace command {

/// The style of a report: one column on narrow screens, light or dark as the reader's system is.
inline constexpr const char* page_style = R"css(
:root { color-scheme: light dark; --paper: #fff; --ink: #1c1f24; --faint: #d5d9e0; --soft: #5c6470;
  --model: #1f5fbf; --band: #1f5fbf; --sample: #7a828e; --one: #c2571a; --positive: #b3261e; --negative: #1a5fb4; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #15181d; --ink: #e6e9ee; --faint: #333a44; --soft: #9aa4b2;
    --model: #7db2ff; --band: #7db2ff; --sample: #8a94a3; --one: #f0a06a; --positive: #ff8a80; --negative: #82b1ff; }
}
body { background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; margin: 0 auto;
  max-width: 72rem; padding: 1rem; }
h1 { font-size: 1.5rem; margin: 0.5rem 0; } h2 { font-size: 1.15rem; margin: 1.5rem 0 0.5rem; }
p { max-width: 45rem; } code, pre { font: 0.85rem/1.45 ui-monospace, monospace; }
pre { overflow-x: auto; border: 1px solid var(--faint); padding: 0.75rem; }
.pictures { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); }
svg { width: 100%; height: auto; display: block; } svg text { fill: var(--ink); font-size: 12px; }
svg text.title { font-size: 14px; font-weight: 600; }
.axis { stroke: var(--soft); } .grid { stroke: var(--faint); stroke-width: 0.6; }
.model { fill: none; stroke: var(--model); stroke-width: 2; } .band { fill: var(--band); fill-opacity: 0.16; }
.part { fill: none; stroke: var(--one); stroke-width: 1; stroke-opacity: 0.75; }
.sample { fill: var(--sample); fill-opacity: 0.6; } .positive { fill: var(--positive); fill-opacity: 0.7; }
.negative { fill: var(--negative); fill-opacity: 0.7; }
.kernel { fill: none; stroke: var(--ink); stroke-width: 1.2; } .center { fill: var(--ink); }
.diagonal { fill: none; stroke: var(--soft); stroke-dasharray: 4 4; }
.above { fill: var(--positive); } .below { fill: var(--negative); }
.table { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.75rem; text-align: right; border-bottom: 1px solid var(--faint); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; } .note { color: var(--soft); }
)css";

}  // namespace command
