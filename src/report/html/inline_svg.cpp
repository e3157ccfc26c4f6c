#include "report/html/inline_svg.hpp"

#include <fmt/format.h>

#include <string_view>

#include "report/html/text.hpp"

namespace onset::report::html {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

/// Drops everything from `begin` to the end of `end`.
void remove_part(std::string& text, std::string_view begin, std::string_view end) {
  const std::size_t from = text.find(begin);
  if (from == std::string::npos) return;
  const std::size_t to = text.find(end, from);
  if (to != std::string::npos) text.erase(from, to + end.size() - from);
}

}  // namespace

std::string inline_svg(const std::string& svg, const std::string& prefix,
                       const std::string& description) {
  const std::size_t start = svg.find("<svg");
  if (start == std::string::npos) return {};
  std::string out = svg.substr(start);
  remove_part(out, "<title>", "</title>");  // gnuplot's own name
  remove_part(out, "<desc>", "</desc>");
  for (const char quote : {'"', '\''}) {
    replace_all(out, fmt::format("id={}", quote), fmt::format("id={}{}", quote, prefix));
    replace_all(out, fmt::format("href={}#", quote), fmt::format("href={}#{}", quote, prefix));
  }
  replace_all(out, "url(#", "url(#" + prefix);
  const std::size_t head_end = out.find('>');
  const std::string_view head = std::string_view(out).substr(0, head_end);
  const std::size_t box = head.find("viewBox=");
  if (box == std::string_view::npos) return out;
  const std::size_t box_end = head.find(head[box + 8], box + 9) + 1;
  return fmt::format("<svg {} role=\"img\" aria-label=\"{}\"", head.substr(box, box_end - box),
                     escape(description)) +
         out.substr(head_end);
}

}  // namespace onset::report::html
