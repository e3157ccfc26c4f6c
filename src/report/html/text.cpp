#include "report/html/text.hpp"

#include <fmt/format.h>

#include "report/readable_text.hpp"

namespace onset::report::html {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : readable_text(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string element(std::string_view name, std::string_view text, std::string_view css_class) {
  const std::string attribute =
      css_class.empty() ? std::string() : fmt::format(" class=\"{}\"", css_class);
  return fmt::format("<{0}{1}>{2}</{0}>", name, attribute, escape(text));
}

std::string id_text(std::string_view name) {
  std::string out;
  for (const char c : name) {
    out += is_plain(c) ? std::string(1, c) : fmt::format(".{:02x}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace onset::report::html
