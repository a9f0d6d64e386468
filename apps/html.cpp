// SPDX-License-Identifier: Apache-2.0
#include "apps/html.h"

#include <fmt/format.h>

#include <cmath>

namespace moiety::apps {
namespace {

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --page: #f6f7f9; --card: #ffffff; --text: #1b1f24;
  --faint: #68717d; --line: #dfe3e8; --s0: #2563c9; --s1: #d2601a; --s2: #1c8a5f; --s3: #8a4fbf;
  --s4: #b8324f; --s5: #0e8a9c; --s6: #7a6a1c; --s7: #6b7280; }
@media (prefers-color-scheme: dark) { :root { --page: #14171b; --card: #1d2127; --text: #e7eaee;
  --faint: #98a1ad; --line: #333a43; --s0: #6ea8ff; --s1: #ff9a57; --s2: #4fd0a0; --s3: #c597f5;
  --s4: #ff7f9b; --s5: #4ecfe0; --s6: #d6c25a; --s7: #a3abb8; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 28px 16px 56px; }
h1 { font-size: 1.45rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 34px 0 12px; }
h3 { font-size: .92rem; margin: 0 0 6px; font-weight: 600; }
p.sub, .note { color: var(--faint); margin: 2px 0 0; }
.note { font-size: .82rem; margin-top: 6px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 16px; min-width: 0; }
.grid { display: grid; gap: 14px;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 400px), 1fr)); }
.headline { display: grid; gap: 14px; margin-top: 18px; }
@media (min-width: 760px) { .headline { grid-template-columns: 1.6fr 1fr; } }
.big { font-size: 2.7rem; line-height: 1.15; font-weight: 650; font-variant-numeric: tabular-nums; }
.big small { font-size: 1.1rem; font-weight: 500; color: var(--faint); }
.bars { display: grid; gap: 8px; margin-top: 18px; }
.bar-label { display: flex; justify-content: space-between; gap: 10px; font-size: .88rem; }
.bar-label span:last-child { white-space: nowrap; font-variant-numeric: tabular-nums; }
.track { height: 8px; border-radius: 4px; background: var(--line); overflow: hidden; }
.fill { height: 100%; border-radius: 4px; background: var(--s7); }
.fill.own { background: var(--s0); }
.facts { display: grid; gap: 4px 18px; margin: 0; grid-template-columns: max-content 1fr; }
.facts dt { color: var(--faint); } .facts dd { margin: 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: 6px 10px; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th { color: var(--faint); font-weight: 500; font-size: .85rem; }
th:first-child, td:first-child { text-align: left; }
tr:last-child td { border-bottom: 0; } tr.best td { font-weight: 650; }
pre { margin: 10px 0 0; overflow-x: auto;
  font: 12.5px/1.5 ui-monospace, Menlo, Consolas, monospace; }
summary { cursor: pointer; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; font-size: .82rem; color: var(--faint); }
.legend i { display: inline-block; width: 14px; height: 3px; border-radius: 2px;
  margin-right: 6px; vertical-align: middle; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--faint); font-size: 12px; }
.gridline { stroke: var(--line); stroke-width: 1; fill: none; }
.guide { stroke: var(--faint); stroke-width: 1; stroke-dasharray: 4 4; fill: none; }
.curve { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.hover { fill: transparent; } .hover:hover { fill: var(--text); }
.dots { stroke: var(--s0); stroke-width: 4; stroke-linecap: round; opacity: .45; fill: none; }
.density, .columns { fill: var(--s0); }
)css";

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string html_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n{}</main>\n</body>\n</"
      "html>\n",
      escape_html(title), kStyle, body);
}

std::string card(const std::string& title, const std::string& content) {
  return fmt::format("<div class=\"card\">\n<h3>{}</h3>\n{}</div>\n", escape_html(title), content);
}

std::string section(const std::string& title, const std::string& content) {
  return content.empty() ? "" : fmt::format("<h2>{}</h2>\n{}", escape_html(title), content);
}

std::string grid(const std::string& cards) {
  return cards.empty() ? "" : fmt::format("<div class=\"grid\">\n{}</div>\n", cards);
}

std::string format_figure(double value) {
  const double size = std::abs(value);
  if (size >= 1e4 && size < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", value);
}

}  // namespace moiety::apps
