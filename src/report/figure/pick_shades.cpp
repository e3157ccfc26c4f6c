#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/figure/pick.hpp"

namespace onset::report {
namespace {

/// The distinct finite values of a column among the rows kept, ascending.
std::vector<double> coordinates(const Table& table, const std::vector<std::size_t>& rows,
                                const std::string& column) {
  std::vector<double> out;
  for (const std::size_t row : rows) {
    const double value = table.number(row, column);
    if (std::isfinite(value)) out.push_back(value);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// The position of a number in ascending values; their count when it is not among them.
std::size_t position(const std::vector<double>& values, double wanted) {
  if (!std::isfinite(wanted)) return values.size();
  return static_cast<std::size_t>(std::lower_bound(values.begin(), values.end(), wanted) -
                                  values.begin());
}

bool holds_words(const Cell& cell) {
  return std::holds_alternative<std::string>(cell) || std::holds_alternative<bool>(cell);
}

/// The index of the word, which joins the others when it is new and they were not fixed.
double word_index(const Map& map, std::vector<std::string>& words, const std::string& word) {
  auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) {
    if (!map.words.empty()) {
      io::complain(map.place, fmt::format("'{}' has the value '{}', which is not among the words",
                                          map.z, word));
    }
    words.push_back(word);
    found = words.end() - 1;
  }
  return static_cast<double>(found - words.begin());
}

}  // namespace

Shades pick_shades(const Map& map, const Table& table) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < table.rows().size(); ++row) {
    if (keeps(table, row, map.filter)) rows.push_back(row);
  }
  Shades out{coordinates(table, rows, map.x),
             coordinates(table, rows, map.y),
             {},
             map.words,
             map.label,
             map.min,
             map.max,
             map.log,
             map.contours,
             map.contour_count};
  out.z.assign(out.x.size() * out.y.size(), std::nan(""));
  std::vector<bool> taken(out.z.size(), false);
  for (const std::size_t row : rows) {
    const std::size_t i = position(out.x, table.number(row, map.x));
    const std::size_t j = position(out.y, table.number(row, map.y));
    if (i == out.x.size() || j == out.y.size()) continue;
    const std::size_t place = i * out.y.size() + j;
    if (taken[place]) {
      io::complain(map.place, fmt::format("two rows at {} = {}, {} = {}; choose with 'filter'",
                                          map.x, out.x[i], map.y, out.y[j]));
    }
    taken[place] = true;
    const Cell& cell = table.at(row, map.z);
    out.z[place] =
        holds_words(cell) ? word_index(map, out.words, label_text(cell)) : table.number(row, map.z);
  }
  return out;
}

}  // namespace onset::report
