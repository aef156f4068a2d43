"""How a report's page looks: on screens in the light and the dark, on phones, and on paper."""

STYLE = """
:root { color-scheme: light dark;
  --paper: #ffffff; --band: #f2f5f8; --ink: #0e1620; --soft: #45505d; --line: #dbe2ea;
  --blue: #1c5f8a; --red: #b42318; --green: #17704a; --yellow: #7a5b00; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #12171d; --band: #1b222b; --ink: #e4e9ef; --soft: #aab6c3; --line: #2d3743;
  --blue: #7dbbe2; --red: #f08a80; --green: #6fcf9f; --yellow: #e0c15c; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 400 15px/1.5 Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
main, header, footer { max-width: 1080px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 36px; }
h1 { font-size: 14px; font-weight: 600; color: var(--soft); margin: 0 0 8px; }
h2 { font-size: 20px; font-weight: 600; line-height: 1.3; margin: 44px 0 10px; padding-top: 14px;
  border-top: 1px solid var(--line); }
h3 { font-size: 16px; font-weight: 600; margin: 28px 0 4px; }
p { margin: 4px 0 10px; max-width: 76ch; }
.verdict { font-size: 26px; line-height: 1.3; font-weight: 600; margin: 0 0 6px; padding-left: 16px;
  border-left: 5px solid var(--state); text-wrap: pretty; }
.breaks { --state: var(--red); } .incomplete { --state: var(--yellow); }
.reconciled, .reconciled_with_pending { --state: var(--green); }
.soft, caption, .when { color: var(--soft); }
dl.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(128px, 1fr)); gap: 10px;
  margin: 24px 0 0; }
dl.facts > div { background: var(--band); border-radius: 8px; padding: 10px 14px; }
dl.facts dt { color: var(--soft); font-size: 13px; }
dl.facts dd { margin: 0; font-size: 22px; font-weight: 600; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; margin: 8px 0 16px; }
.scroll:focus-visible, summary:focus-visible, a:focus-visible { outline: 2px solid var(--blue);
  outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
table.small { width: auto; min-width: 320px; }
.pairs { display: grid; grid-template-columns: repeat(auto-fit, minmax(320px, 1fr)); column-gap: 48px; }
.pairs table.small { width: 100%; }
table.found { min-width: 640px; }
caption { text-align: left; font-size: 13px; padding: 0 0 4px; }
th, td { text-align: left; vertical-align: top; padding: 7px 14px 7px 0; border-bottom: 1px solid var(--line);
  font-weight: 400; }
bdi { overflow-wrap: anywhere; } .id { white-space: nowrap; }
tbody th { min-width: 9em; }
thead th { font-size: 13px; font-weight: 600; color: var(--soft); white-space: nowrap; }
.n { text-align: right; white-space: nowrap; }
th:last-child, td:last-child { padding-right: 0; }
table.found tbody th { width: 56%; min-width: 15em; }
table.found .n { padding-right: 28px; } table.found .when { white-space: nowrap; }
.extra { color: var(--red); font-weight: 600; }
.probable { color: var(--yellow); font-weight: 600; }
.ok { color: var(--green); font-weight: 600; }
.bad { color: var(--red); font-weight: 600; }
details { margin: 4px 0 12px; }
summary { cursor: pointer; color: var(--blue); padding: 4px 0; width: fit-content; }
ul { margin: 4px 0 10px; padding-left: 20px; }
nav ul { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 20px 0 0; }
a { color: var(--blue); }
figure { margin: 14px 0 22px; display: grid; grid-template-columns: auto 1fr; column-gap: 8px; }
figcaption, figure > .axis, figure > .numbers { grid-column: 2; }
figcaption { margin-bottom: 6px; font-size: 14px; }
.most { grid-column: 1; font-size: 12px; color: var(--soft); text-align: right; min-width: 28px;
  line-height: 1; font-variant-numeric: tabular-nums; }
svg { grid-column: 2; width: 100%; height: 110px; display: block; border-bottom: 1px solid var(--soft);
  border-top: 1px dotted var(--line); fill: var(--blue); }
figure.wrong svg { fill: var(--red); }
.axis { display: flex; justify-content: space-between; font-size: 12px; color: var(--soft);
  padding-top: 3px; }
footer { color: var(--soft); font-size: 13px; padding-top: 20px; padding-bottom: 48px; }
@media (max-width: 640px) {
  main, header, footer { padding-left: 16px; padding-right: 16px; }
  header { padding-top: 24px; }
  .verdict { font-size: 21px; padding-left: 12px; }
  table.found .n { padding-right: 14px; }
  dl.facts { grid-template-columns: repeat(2, 1fr); }
}
@media print {
  @page { margin: 14mm 12mm 16mm; @bottom-right { content: counter(page) " / " counter(pages);
    font: 9px sans-serif; } }
  :root { color-scheme: light; --paper: #fff; --band: #f2f5f8; --ink: #000; --soft: #3d4753; --line: #cfd6de;
    --blue: #1c5f8a; --red: #a11d13; --green: #12603f; --yellow: #6b5000; }
  body { font-size: 10.5px; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main, header, footer { max-width: none; padding: 0; }
  h2 { font-size: 14px; margin-top: 22px; break-after: avoid; } h3 { font-size: 12px; break-after: avoid; }
  dl.facts { grid-template-columns: repeat(6, 1fr); } figcaption, .axis, .most { font-size: 10px; }
  .verdict { font-size: 17px; } dl.facts dd { font-size: 15px; }
  dl.facts dt, caption, thead th { font-size: 10px; }
  tr, figure, dl.facts > div { break-inside: avoid; }
  thead { display: table-header-group; }
  .scroll { overflow: visible; } table.found { min-width: 0; }
  th, td { padding: 4px 10px 4px 0; }
  nav, figure .numbers, details.numbers { display: none; }
  details > summary { list-style: none; color: var(--soft); }
  details::details-content { display: block; content-visibility: visible; height: auto; }
  svg { height: 70px; }
}
"""
