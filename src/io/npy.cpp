#include "onset/io/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "io/npy_header.hpp"

namespace onset::io {
namespace {

static_assert(std::endian::native == std::endian::little, "NPY is written in little-endian order");

enum class FieldKind { truth, whole, real, text };

/// One field of the structured array.
struct Field {
  std::string name;
  std::size_t column = 0;
  FieldKind kind = FieldKind::real;
  bool error = false;     ///< whether it is the standard error of the column
  std::size_t width = 0;  ///< the number of characters of text

  [[nodiscard]] std::string type() const {
    switch (kind) {
      case FieldKind::truth: return "|b1";
      case FieldKind::whole: return "<i8";
      case FieldKind::real: return "<f8";
      case FieldKind::text: return fmt::format("<U{}", width);
    }
    return {};
  }
};

/// Code points of UTF-8; what is not UTF-8 becomes U+FFFD.
std::u32string code_points(const std::string& text) {
  constexpr char32_t replacement = 0xfffd;
  std::u32string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    const int ones = std::countl_one(lead);
    if (ones == 0) {
      out += lead;
      continue;
    }
    char32_t point = lead & (0xff >> (ones + 1));
    bool valid = ones >= 2 && ones <= 4;
    for (int k = 1; valid && k < ones; ++k) {
      valid = i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80;
      if (valid) point = (point << 6) | (static_cast<unsigned char>(text[i++]) & 0x3f);
    }
    out += valid && point <= 0x10ffff ? point : replacement;
  }
  return out;
}

std::u32string cell_text(const Cell& cell) {
  struct Writer {
    std::string operator()(std::monostate) const { return {}; }
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
    std::string operator()(std::int64_t whole) const { return fmt::format("{}", whole); }
    std::string operator()(double real) const { return fmt::format("{}", real); }
    std::string operator()(const Estimate& estimate) const {
      return fmt::format("{}", estimate.value);
    }
    std::string operator()(const std::string& text) const { return text; }
  };
  return code_points(std::visit(Writer{}, cell));
}

double cell_number(const Cell& cell) {
  if (const auto* estimate = std::get_if<Estimate>(&cell)) return estimate->value;
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  if (const auto* truth = std::get_if<bool>(&cell)) return *truth ? 1.0 : 0.0;
  return std::numeric_limits<double>::quiet_NaN();
}

double cell_error(const Cell& cell) {
  if (const auto* estimate = std::get_if<Estimate>(&cell)) return estimate->error;
  return std::holds_alternative<std::monostate>(cell) ? std::numeric_limits<double>::quiet_NaN()
                                                      : 0.0;
}

template <class T>
bool all_are(const Table& table, std::size_t column) {
  return !table.rows().empty() &&
         std::all_of(table.rows().begin(), table.rows().end(),
                     [&](const auto& row) { return std::holds_alternative<T>(row[column]); });
}

FieldKind kind_of(const Table& table, std::size_t column) {
  if (table.columns()[column].estimate) return FieldKind::real;
  if (all_are<bool>(table, column)) return FieldKind::truth;
  if (all_are<std::int64_t>(table, column)) return FieldKind::whole;
  const bool any_text = std::any_of(table.rows().begin(), table.rows().end(), [&](const auto& row) {
    return std::holds_alternative<std::string>(row[column]);
  });
  return any_text ? FieldKind::text : FieldKind::real;
}

std::vector<Field> fields_of(const Table& table) {
  std::vector<Field> fields;
  for (std::size_t c = 0; c < table.columns().size(); ++c) {
    const Column& column = table.columns()[c];
    Field field{column.name, c, kind_of(table, c), false, 1};
    if (field.kind == FieldKind::text) {
      for (const auto& row : table.rows()) {
        field.width = std::max(field.width, cell_text(row[c]).size());
      }
    }
    fields.push_back(std::move(field));
    if (column.estimate) fields.push_back({column.name + "_err", c, FieldKind::real, true, 0});
  }
  return fields;
}

template <class T>
void append_bytes(std::string& out, const T& value) {
  const std::size_t at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}

void append_cell(std::string& out, const Field& field, const Cell& cell) {
  switch (field.kind) {
    case FieldKind::truth: append_bytes(out, std::get<bool>(cell)); return;
    case FieldKind::whole: append_bytes(out, std::get<std::int64_t>(cell)); return;
    case FieldKind::real:
      append_bytes(out, field.error ? cell_error(cell) : cell_number(cell));
      return;
    case FieldKind::text: {
      std::u32string text = cell_text(cell);
      text.resize(field.width, U'\0');
      for (const char32_t point : text) append_bytes(out, point);
      return;
    }
  }
}

/// A Python string literal; names are plain words, so quotes and backslashes are all there is.
std::string python_text(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string type_of(const std::vector<Field>& fields) {
  std::string types;
  for (const Field& field : fields) {
    types += fmt::format("({}, '{}'), ", python_text(field.name), field.type());
  }
  return "[" + types + "]";
}

}  // namespace

std::string to_npy(const Table& table) {
  const std::vector<Field> fields = fields_of(table);
  std::string out = detail::npy_header(type_of(fields), fmt::format("({},)", table.rows().size()));
  for (const auto& row : table.rows()) {
    for (const Field& field : fields) append_cell(out, field, row[field.column]);
  }
  return out;
}

}  // namespace onset::io
