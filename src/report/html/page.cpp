#include "report/html/page.hpp"

#include "report/html/text.hpp"
#include "report/page_file.hpp"

namespace onset::report::html {
namespace {

constexpr std::string_view style_sheet = R"css(
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --text: #1c2024; --soft: #5b6570; --line: #dfe3e8;
  --link: #0a5c96; --code: #f0f2f5;
  --ok: #007a57; --unconverged: #9a6700; --refused: #8a3f74; --failed: #b23c00; --missing: #5b6570;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #101214; --card: #191919; --text: #e4e7ea; --soft: #9aa4ae; --line: #33383d;
    --link: #7cc0f0; --code: #24282c;
    --ok: #4cc79c; --unconverged: #e0b04a; --refused: #dd9cc6; --failed: #f08a5c; --missing: #9aa4ae;
  }
  /* The figures are drawn for paper: black becomes white, and hues stay what they are. */
  figure svg { filter: invert(0.902) hue-rotate(180deg); }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
}
main, header.top, footer { max-width: 1120px; margin: 0 auto; padding: 0 20px; }
header.top { padding-top: 32px; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 1.4rem; line-height: 1.25; margin: 0 0 4px; overflow-wrap: anywhere; }
h3 { font-size: 1.05rem; margin: 32px 0 10px; }
p { margin: 0 0 10px; max-width: 75ch; }
a { color: var(--link); }
.soft, .note { color: var(--soft); }
.note { font-size: 0.88rem; }
section.study {
  background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 24px; margin: 24px 0;
}
nav ul { list-style: none; padding: 0; margin: 14px 0 0; display: flex; flex-wrap: wrap; gap: 6px 18px; }
.chips { display: flex; flex-wrap: wrap; gap: 8px; padding: 0; margin: 12px 0; list-style: none; }
.chips li { border: 1px solid var(--line); border-radius: 999px; padding: 1px 12px; font-size: 0.9rem; }
.chips b { font-variant-numeric: tabular-nums; }
.status { font-weight: 600; white-space: nowrap; }
.ok { color: var(--ok); } .unconverged { color: var(--unconverged); }
.refused { color: var(--refused); } .failed { color: var(--failed); } .missing { color: var(--missing); }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 4px 18px; margin: 12px 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
code, pre { font: 0.86em/1.45 ui-monospace, "SF Mono", Consolas, "DejaVu Sans Mono", monospace; }
dd code { background: var(--code); border-radius: 4px; padding: 1px 5px; }
pre {
  background: var(--code); border-radius: 8px; padding: 12px 14px; overflow-x: auto; margin: 0 0 12px;
}
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 400px), 1fr)); gap: 20px; }
figure { margin: 0; }
figure svg { display: block; width: 100%; height: auto; max-width: 560px; margin: 0 auto; }
figure svg text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
figcaption { color: var(--soft); font-size: 0.88rem; text-align: center; }
details { margin: 10px 0; }
summary { cursor: pointer; color: var(--link); padding: 4px 0; }
.scroll { overflow: auto; max-height: 34rem; border: 1px solid var(--line); border-radius: 8px; margin: 0 0 10px; }
table { border-collapse: collapse; width: 100%; font-size: 0.88rem; }
th { position: sticky; top: 0; background: var(--card); padding: 0; text-align: left; z-index: 1; }
thead th { box-shadow: inset 0 -1px var(--line); }
th button {
  all: unset; box-sizing: border-box; display: block; width: 100%; padding: 8px 12px; cursor: pointer;
  font-weight: 600; white-space: nowrap;
}
th button:hover { background: var(--code); }
:focus-visible { outline: 2px solid var(--link); outline-offset: -2px; }
th button::after { content: " \2195"; color: var(--soft); opacity: 0.45; }
th[aria-sort=ascending] button::after { content: " \2191"; opacity: 1; }
th[aria-sort=descending] button::after { content: " \2193"; opacity: 1; }
td { max-width: 44ch; padding: 5px 12px; border-top: 1px solid var(--line); vertical-align: top; }
td.n { font-variant-numeric: tabular-nums; white-space: nowrap; }
td .words { display: block; min-width: 28ch; }
td:has(code, .line) { max-width: none; }
td .line { white-space: nowrap; }
td code { white-space: nowrap; user-select: all; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
footer { color: var(--soft); font-size: 0.85rem; padding-bottom: 40px; }
@media (max-width: 600px) {
  main, header.top, footer { padding-left: 12px; padding-right: 12px; }
  section.study { padding: 16px 14px; border-radius: 8px; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 8px; }
}
@media print {
  :root { --page: #fff; --card: #fff; --text: #000; --soft: #444; --line: #bbb; --code: #f4f4f4; --link: #000; }
  section.study { border: 0; padding: 0; }
  .scroll { max-height: none; overflow: visible; border: 0; }
  th { position: static; }
  th button::after { content: ""; }
  td code, td .line, pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  figure, tr { break-inside: avoid; }
  figure svg { filter: none; }
}
)css";

constexpr std::string_view script = R"js(
(() => {
  "use strict";
  const words = new Intl.Collator(undefined, {numeric: true});
  const number = cell => cell.dataset.v === undefined ? NaN : Number(cell.dataset.v);
  // Numbers come before words, and cells without a value last, in either direction.
  const compare = (a, b, sign) => {
    const [x, y] = [number(a), number(b)];
    const [s, t] = [a.textContent, b.textContent];
    if ((s === "") !== (t === "")) return s === "" ? 1 : -1;
    if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
    return sign * (Number.isNaN(x) ? words.compare(s, t) : x - y);
  };
  const sort = head => {
    const table = head.closest("table");
    const body = table.tBodies[0];
    const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    const rows = [...body.rows];
    rows.sort((a, b) => compare(a.cells[head.cellIndex], b.cells[head.cellIndex], sign));
    for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    body.append(...rows);
  };
  for (const button of document.querySelectorAll("table.sortable th button")) {
    button.addEventListener("click", () => sort(button.parentElement));
  }
  // Paper cannot be clicked, so everything is shown.
  window.addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details")) part.open = true;
  });
})();
)js";

std::string_view plot_style() {
  for (const PageFile& file : shared_page_files()) {
    if (file.name == "plot.css") return file.text;
  }
  return {};
}

}  // namespace

std::string page(std::string_view title, std::string_view content) {
  std::string out = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
)";
  out += element("title", title);
  out += "\n<link rel=\"icon\" href=\"data:,\">\n<style>";
  out += plot_style();
  out += style_sheet;
  out += "</style>\n</head>\n<body>\n";
  out += content;
  out += "<script>";
  out += script;
  out += "</script>\n<script type=\"module\">\n";
  out += bundle("report.js", shared_page_files());
  return out + "</script>\n</body>\n</html>\n";
}

}  // namespace onset::report::html
