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
namespace detail {

enum class NpyKind { truth, whole, real, text };

/// One field of the structured array.
struct NpyField {
  std::string name;
  std::size_t column = 0;
  NpyKind kind = NpyKind::real;
  bool error = false;     ///< whether it is the standard error of the column
  std::size_t width = 0;  ///< the number of characters of text

  [[nodiscard]] std::string type() const {
    switch (kind) {
      case NpyKind::truth: return "|b1";
      case NpyKind::whole: return "<i8";
      case NpyKind::real: return "<f8";
      case NpyKind::text: return fmt::format("<U{}", width);
    }
    return {};
  }
};

}  // namespace detail

namespace {

using Field = detail::NpyField;
using FieldKind = detail::NpyKind;

static_assert(std::endian::native == std::endian::little, "NPY is written in little-endian order");

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

/// A Python string literal. Names are plain words, and those of others may have control characters,
/// which stand in no literal as they are.
std::string python_text(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c >= '\0' && c < ' ') {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      continue;
    }
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

NpyRows::NpyRows(const std::vector<Column>& columns) : columns_(columns), seen_(columns.size()) {}

void NpyRows::see(const std::vector<Cell>& row) {
  ++rows_;
  for (std::size_t c = 0; c < row.size(); ++c) {
    Seen& seen = seen_[c];
    seen.truths = seen.truths && std::holds_alternative<bool>(row[c]);
    seen.wholes = seen.wholes && std::holds_alternative<std::int64_t>(row[c]);
    seen.text = seen.text || std::holds_alternative<std::string>(row[c]);
    if (!columns_[c].estimate) seen.width = std::max(seen.width, cell_text(row[c]).size());
  }
}

struct NpyRows::Fields {
  std::vector<Field> list;
};

std::string NpyRows::header() {
  Fields fields;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Seen& seen = seen_[c];
    FieldKind kind = seen.text ? FieldKind::text : FieldKind::real;
    if (rows_ > 0 && seen.truths) kind = FieldKind::truth;
    if (rows_ > 0 && seen.wholes) kind = FieldKind::whole;
    if (columns_[c].estimate) kind = FieldKind::real;
    fields.list.push_back({columns_[c].name, c, kind, false, seen.width});
    if (columns_[c].estimate) {
      fields.list.push_back({columns_[c].name + "_err", c, FieldKind::real, true, 0});
    }
  }
  fields_ = std::make_shared<const Fields>(std::move(fields));
  return detail::npy_header(type_of(fields_->list), fmt::format("({},)", rows_));
}

std::string NpyRows::bytes(const std::vector<Cell>& row) const {
  std::string out;
  for (const Field& field : fields_->list) append_cell(out, field, row[field.column]);
  return out;
}

std::string to_npy(const Table& table) {
  NpyRows rows(table.columns());
  for (const auto& row : table.rows()) rows.see(row);
  std::string out = rows.header();
  for (const auto& row : table.rows()) out += rows.bytes(row);
  return out;
}

}  // namespace onset::io
