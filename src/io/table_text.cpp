#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "core/printable.hpp"
#include "core/suggestion.hpp"
#include "onset/core/error.hpp"
#include "onset/io/format.hpp"

namespace onset::io {
namespace {

constexpr std::string_view gap = "  ";
/// A text column that is narrowed so that a table fits keeps at least this width.
constexpr std::size_t narrowest_text = 24;

std::string shown_cell(const Cell& cell) {
  struct Writer {
    std::string operator()(std::monostate) const { return "-"; }
    std::string operator()(bool truth) const { return truth ? "yes" : "no"; }
    std::string operator()(std::int64_t whole) const { return fmt::format("{}", whole); }
    std::string operator()(double real) const { return concise({real, 0.0}); }
    std::string operator()(const Estimate& estimate) const {
      // What is not known is empty, as in files: null in JSON, nothing in CSV.
      return std::isnan(estimate.value) ? "-" : concise(estimate);
    }
    std::string operator()(const std::string& text) const { return one_line(text, all_of_it); }
  };
  return std::visit(Writer{}, cell);
}

bool has_parentheses(const Cell& cell) {
  const auto* estimate = std::get_if<Estimate>(&cell);
  return estimate != nullptr && concise(*estimate).find('(') != std::string::npos;
}

/// Breaks text at spaces into lines of at most `width` letters; a longer word has a line of its
/// own.
std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width)
      lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void append_line(std::string& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

/// A line below the table, broken where it is longer than the layout allows.
void append_text(std::string& out, const std::string& given, std::size_t width) {
  const std::string text = one_line(given, all_of_it);
  if (width == 0 || text.size() <= width) return append_line(out, text);
  for (const std::string& line : wrapped(text, width)) append_line(out, line);
}

/// Numbers of one column that are written now with an exponent and now without are all written with
/// one: 6.0e-05 and 7.5e-04 compare at a glance, 6e-05 and 0.00075 do not.
/// A column that has whole numbers too, such as 1 and 128, holds different things, each of which is
/// read by itself.
void unify_numbers(const Table& table, std::size_t column, std::vector<std::string>& texts) {
  bool scientific = false;
  bool plain = false;
  std::size_t digits = 1;
  for (std::size_t r = 0; r < texts.size(); ++r) {
    const auto* real = std::get_if<double>(&table.rows()[r][column]);
    if (real == nullptr || *real == 0.0) continue;
    if (*real == std::round(*real)) return;
    const std::size_t exponent = texts[r].find('e');
    (exponent == std::string::npos ? plain : scientific) = true;
    const std::string mantissa = texts[r].substr(0, exponent);
    const std::size_t first = mantissa.find_first_of("123456789");
    if (first == std::string::npos) return;  // not a finite number
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    digits = std::max(digits, static_cast<std::size_t>(std::count_if(
                                  mantissa.begin() + static_cast<std::ptrdiff_t>(first),
                                  mantissa.end(), is_digit)));
  }
  if (!scientific || !plain) return;
  for (std::size_t r = 0; r < texts.size(); ++r) {
    const auto* real = std::get_if<double>(&table.rows()[r][column]);
    if (real != nullptr && *real != 0.0) texts[r] = fmt::format("{:.{}e}", *real, digits - 1);
  }
}

/// A table as texts, before it is laid out.
class TextTable {
 public:
  TextTable(const Table& table, const TableLayout& layout)
      : table_(table), layout_(layout), rows_(shown_rows()) {
    for (std::size_t c = 0; c < table.columns().size(); ++c) columns_.push_back(column(c));
    shown_ = layout.columns.empty() ? fitting_columns() : asked_columns();
    narrow_last_text();
  }

  void append_to(std::string& out) const {
    append_head(out);
    std::size_t previous = 0;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (r > 0 && rows_[r] != previous + 1) append_line(out, "..");
      append_row(out, r);
      previous = rows_[r];
    }
  }

  [[nodiscard]] bool has_parentheses() const {
    return std::any_of(shown_.begin(), shown_.end(), [this](std::size_t c) {
      return std::any_of(rows_.begin(), rows_.end(), [this, c](std::size_t r) {
        return io::has_parentheses(table_.rows()[r][c]);
      });
    });
  }

  void append_what_is_not_shown(std::string& below) const {
    const std::size_t total = table_.rows().size();
    if (rows_.size() < total) {
      append_text(
          below, fmt::format("{} of {} rows{}", rows_.size(), total, hint(layout_.how_to_see_rows)),
          layout_.width);
    }
    std::vector<std::string> names;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (std::find(shown_.begin(), shown_.end(), c) == shown_.end())
        names.push_back(columns_[c].name);
    }
    if (!names.empty() && layout_.columns.empty()) {
      append_text(
          below,
          fmt::format("Not shown: {}{}", fmt::join(names, ", "), hint(layout_.how_to_see_columns)),
          layout_.width);
    }
  }

 private:
  struct TextColumn {
    std::string name;
    std::vector<std::string> cells;
    bool left = false;  ///< text reads best flush left, numbers flush right
    std::size_t width = 0;
  };

  static std::string hint(const std::string& how) { return how.empty() ? "." : "; " + how + "."; }

  /// All rows, or head and tail of a long table.
  [[nodiscard]] std::vector<std::size_t> shown_rows() const {
    std::vector<std::size_t> rows(table_.rows().size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    if (layout_.max_rows == 0 || rows.size() <= layout_.max_rows) return rows;
    const auto tail = static_cast<std::ptrdiff_t>(layout_.max_rows / 3);
    const auto head = static_cast<std::ptrdiff_t>(layout_.max_rows) - tail;
    rows.erase(rows.begin() + head, rows.end() - tail);
    return rows;
  }

  [[nodiscard]] TextColumn column(std::size_t index) const {
    TextColumn column;
    // Names may be those of columns in a store that somebody else made.
    column.name = one_line(table_.columns()[index].name, all_of_it);
    std::vector<std::string> all;
    for (const auto& row : table_.rows()) {
      all.push_back(shown_cell(row[index]));
      column.left = column.left || std::holds_alternative<std::string>(row[index]);
    }
    unify_numbers(table_, index, all);
    column.width = column.name.size();
    for (const std::size_t r : rows_) {
      column.width = std::max(column.width, all[r].size());
      column.cells.push_back(std::move(all[r]));
    }
    return column;
  }

  [[nodiscard]] std::vector<std::size_t> asked_columns() const {
    std::vector<std::string> names;
    for (const TextColumn& column : columns_) names.push_back(column.name);
    std::vector<std::size_t> out;
    for (const std::string& name : layout_.columns) {
      const auto found = std::find(names.begin(), names.end(), name);
      if (name == "all") {
        out.resize(columns_.size());
        std::iota(out.begin(), out.end(), std::size_t{0});
        return out;
      }
      if (found == names.end()) {
        throw InvalidArgument("columns",
                              fmt::format("there is no {}; allowed: all, {}{}", name,
                                          fmt::join(names, ", "), suggestion(name, names)));
      }
      out.push_back(static_cast<std::size_t>(found - names.begin()));
    }
    return out;
  }

  /// How soon a column is given up when not all fit, the largest first: what rows are of, the first
  /// estimate, verdicts and states, the other estimates, and then the rest.
  [[nodiscard]] std::vector<int> ranks() const {
    std::vector<int> out;
    int estimates = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const bool estimate = table_.columns()[c].estimate;
      const bool verdict = columns_[c].left || is_truth(c);
      out.push_back(estimate ? (estimates == 0 ? 1 : 3) : estimates == 0 ? 0 : verdict ? 2 : 4);
      estimates += estimate ? 1 : 0;
    }
    return out;
  }

  [[nodiscard]] bool is_truth(std::size_t column) const {
    return std::any_of(table_.rows().begin(), table_.rows().end(), [column](const auto& row) {
      return std::holds_alternative<bool>(row[column]);
    });
  }

  [[nodiscard]] std::size_t width_of(const std::vector<std::size_t>& columns) const {
    std::size_t width = columns.empty() ? 0 : gap.size() * (columns.size() - 1);
    for (const std::size_t c : columns) width += columns_[c].width;
    return width;
  }

  /// A long text in the last column is broken into lines rather than left out.
  [[nodiscard]] bool last_can_be_narrowed(const std::vector<std::size_t>& columns) const {
    const TextColumn& last = columns_[columns.back()];
    return last.left && columns.back() + 1 == columns_.size() && last.width > narrowest_text &&
           width_of(columns) - last.width + narrowest_text <= layout_.width;
  }

  [[nodiscard]] std::vector<std::size_t> fitting_columns() const {
    std::vector<std::size_t> order(columns_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (layout_.width == 0 || width_of(order) <= layout_.width || order.empty() ||
        last_can_be_narrowed(order)) {
      return order;
    }
    const std::vector<int> rank = ranks();
    std::stable_sort(order.begin(), order.end(),
                     [&rank](std::size_t a, std::size_t b) { return rank[a] < rank[b]; });
    std::vector<std::size_t> out;
    bool full = false;  // an estimate had no room, so that what matters less has none either
    for (const std::size_t c : order) {
      if (full && rank[c] == 4) break;
      out.push_back(c);
      if (out.size() == 1 || width_of(out) <= layout_.width) continue;
      out.pop_back();
      full = true;
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  void narrow_last_text() {
    if (layout_.width == 0 || shown_.empty() || width_of(shown_) <= layout_.width ||
        !last_can_be_narrowed(shown_)) {
      return;
    }
    TextColumn& last = columns_[shown_.back()];
    last.width = layout_.width - (width_of(shown_) - last.width);
  }

  [[nodiscard]] std::string line(const std::vector<std::string>& texts) const {
    std::string out;
    for (std::size_t k = 0; k < shown_.size(); ++k) {
      const TextColumn& column = columns_[shown_[k]];
      if (k > 0) out += gap;
      out += column.left ? fmt::format("{:<{}}", texts[k], column.width)
                         : fmt::format("{:>{}}", texts[k], column.width);
    }
    return out;
  }

  void append_head(std::string& out) const {
    std::vector<std::string> names;
    std::vector<std::string> rules;
    for (const std::size_t c : shown_) {
      names.push_back(columns_[c].name);
      rules.emplace_back(columns_[c].width, '-');
    }
    append_line(out, line(names));
    append_line(out, line(rules));
  }

  void append_row(std::string& out, std::size_t row) const {
    std::vector<std::string> texts;
    for (const std::size_t c : shown_) texts.push_back(columns_[c].cells[row]);
    const TextColumn& last = columns_[shown_.back()];
    std::vector<std::string> lines{texts.back()};
    if (texts.back().size() > last.width) lines = wrapped(texts.back(), last.width);
    for (const std::string& part : lines) {
      texts.back() = part;
      append_line(out, line(texts));
      texts.assign(texts.size(), "");  // the other columns stand beside the first line only
    }
  }

  const Table& table_;
  const TableLayout& layout_;
  std::vector<std::size_t> rows_;
  std::vector<TextColumn> columns_;
  std::vector<std::size_t> shown_;
};

}  // namespace

std::string to_table(const Result& result, const TableLayout& layout) {
  std::string out;
  std::string below;
  bool parentheses = std::any_of(result.summary.begin(), result.summary.end(),
                                 [](const auto& entry) { return has_parentheses(entry.second); });
  // What was refused has no rows, and before a model is known columns are those of another one.
  const bool has_table = result.status != ResultStatus::refused || !result.table.rows().empty();
  if (has_table && !result.table.columns().empty()) {
    const TextTable text(result.table, layout);
    text.append_to(out);
    text.append_what_is_not_shown(below);
    parentheses = parentheses || text.has_parentheses();
  }
  const auto append = [&](const std::string& text) { append_text(below, text, layout.width); };
  for (const auto& [name, cell] : result.summary) {
    append(fmt::format("{}: {}", name, shown_cell(cell)));
  }
  if (parentheses) {
    append("In parentheses: the standard error of the last digits; 0.18(2) is 0.18 +- 0.02.");
  }
  for (const std::string& note : result.notes) append("note: " + note);
  if (result.status != ResultStatus::ok) {
    append(fmt::format("status: {}{}{}", to_string(result.status),
                       result.reason.empty() ? "" : ": ", result.reason));
  }
  if (!below.empty() && !out.empty()) out += '\n';
  return out + below;
}

}  // namespace onset::io
