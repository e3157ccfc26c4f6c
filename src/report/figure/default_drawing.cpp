#include "report/figure/default_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "report/figure/average_repeats.hpp"
#include "report/figure/pick.hpp"
#include "report/gnuplot/plot_text.hpp"

namespace onset::report {
namespace {

// More curves than this are coloured by their place on a scale, and a few of them are named.
constexpr std::size_t most_colours = 8;
constexpr std::size_t named_curves = 5;
// Nobody tells more curves than this apart, or looks at more panels.
constexpr std::size_t most_curves = 48;
constexpr std::size_t most_panels = 4;
// If a column has more different words than this, they are remarks and do not say how rows differ.
constexpr std::size_t most_words = 12;
// Fewer points than this are drawn as marks.
constexpr std::size_t dense_grid = 16;

template <class T>
bool holds(const Table& table, std::size_t column) {
  return std::any_of(table.rows().begin(), table.rows().end(),
                     [column](const auto& row) { return std::holds_alternative<T>(row[column]); });
}

/// Whether a sentence has a name as a word of its own: `m` is no part of "semantic".
bool has_word(const std::string& sentence, const std::string& name) {
  const auto continues = [&](std::size_t at) {
    return at < sentence.size() &&
           (std::isalnum(static_cast<unsigned char>(sentence[at])) != 0 || sentence[at] == '_');
  };
  for (std::size_t at = sentence.find(name); at != std::string::npos;
       at = sentence.find(name, at + 1)) {
    const bool begins = at == 0 || !continues(at - 1);
    if (begins && !continues(at + name.size())) return true;
  }
  return false;
}

/// Where the first clause of a sentence ends: before a comma, colon, semicolon or remark that is
/// not within a formula's brackets. A parenthesis after a space is a remark; others belong to a
/// formula.
std::size_t clause_end(const std::string& sentence) {
  constexpr std::string_view opening = "([{";
  constexpr std::string_view closing = ")]}";
  constexpr std::string_view ends = ",;:";
  int depth = 0;
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    const char c = sentence[i];
    const bool remark = c == '(' && i > 0 && sentence[i - 1] == ' ';
    if (depth == 0 && (remark || ends.find(c) != std::string_view::npos)) return i;
    if (opening.find(c) != std::string_view::npos) ++depth;
    if (closing.find(c) != std::string_view::npos) depth = std::max(0, depth - 1);
  }
  return sentence.size();
}

/// Facts about a column that are needed again and again, found once.
struct ColumnFacts {
  std::string name;
  bool axis = false;
  bool estimate = false;
  bool real = false;   ///< has numbers that are not whole by type
  bool whole = false;  ///< has whole numbers
  bool words = false;
  std::size_t distinct = 0;
};

std::vector<ColumnFacts> facts_of(const Plottable& plottable) {
  const Table& table = *plottable.table;
  std::vector<ColumnFacts> out;
  for (std::size_t c = 0; c < table.columns().size(); ++c) {
    const Column& column = table.columns()[c];
    ColumnFacts facts;
    facts.name = column.name;
    facts.axis = std::find(plottable.axes.begin(), plottable.axes.end(), column.name) !=
                 plottable.axes.end();
    facts.words = holds<std::string>(table, c);
    // Words among numbers, in a store of others, leave nothing to draw.
    facts.estimate = column.estimate && !facts.words;
    facts.real = holds<double>(table, c) && !facts.words;
    facts.whole = holds<std::int64_t>(table, c) && !facts.words;
    std::set<std::string> values;
    for (const auto& row : table.rows()) values.insert(label_text(row[c]));
    facts.distinct = values.size();
    out.push_back(std::move(facts));
  }
  return out;
}

class Drafter {
 public:
  Drafter(std::string id, const Plottable& plottable)
      : plottable_(plottable), table_(*plottable.table), facts_(facts_of(plottable)) {
    drawing_.id = std::move(id);
  }

  std::optional<Drawing> draft() {
    if (const auto second = second_coordinate()) {
      draw_maps(*second);
    } else if (const ColumnFacts* x = coordinate()) {
      draw_curves(*x);
    }
    if (drawing_.panels.empty()) return std::nullopt;
    return std::move(drawing_);
  }

 private:
  /// The columns of numbers before the first estimate that are no axes: the verb's own grid.
  [[nodiscard]] std::vector<const ColumnFacts*> own_grid() const {
    std::vector<const ColumnFacts*> out;
    for (const ColumnFacts& column : facts_) {
      if (column.estimate) break;
      if (column.real && column.distinct > 1 && !column.axis) out.push_back(&column);
    }
    return out;
  }

  [[nodiscard]] const ColumnFacts* coordinate() const {
    const auto grid = own_grid();
    if (!grid.empty()) return grid.front();
    const ColumnFacts* best = nullptr;
    for (const ColumnFacts& column : facts_) {
      const bool numbers = column.axis && !column.words && (column.real || column.whole);
      if (numbers && column.distinct > 1 && (!best || column.distinct > best->distinct)) {
        best = &column;
      }
    }
    return best;
  }

  /// The second column of a grid of two, in which each pair of values occurs once.
  [[nodiscard]] std::optional<std::pair<const ColumnFacts*, const ColumnFacts*>> second_coordinate()
      const {
    const auto grid = own_grid();
    if (grid.size() < 2 || !groups(*grid[0], grid[1]).empty()) return std::nullopt;
    const bool whole_grid = grid[0]->distinct * grid[1]->distinct == table_.rows().size();
    if (!whole_grid || grid[0]->distinct < 3 || grid[1]->distinct < 3) return std::nullopt;
    return std::pair(grid[0], grid[1]);
  }

  /// What tells curves apart: other axes, words, and whole numbers that come before x. For a map
  /// (`y`) words are what is drawn.
  [[nodiscard]] std::vector<std::string> groups(const ColumnFacts& x,
                                                const ColumnFacts* y = nullptr) const {
    std::vector<std::string> out;
    bool before = true;
    for (const ColumnFacts& column : facts_) {
      if (&column == &x) before = false;
      if (&column == &x || &column == y || column.estimate || column.distinct < 2) continue;
      const bool few_words = column.words && column.distinct <= most_words && !y;
      const bool counts = column.whole && before && !x.axis;
      if (column.axis || few_words || counts) out.push_back(column.name);
    }
    return out;
  }

  /// Estimates that have something to show, the primary one first.
  [[nodiscard]] std::vector<std::string> estimates() const {
    std::vector<std::string> out;
    for (const ColumnFacts& column : facts_) {
      if (column.estimate && column.distinct > 1) out.push_back(column.name);
    }
    const auto primary = std::find(out.begin(), out.end(), plottable_.primary);
    if (primary != out.end()) std::rotate(out.begin(), primary, primary + 1);
    return out;
  }

  [[nodiscard]] const Column& column(const std::string& name) const {
    return table_.columns()[table_.column(name)];
  }

  /// The name of a column, and the first clause of its meaning where that is short.
  [[nodiscard]] std::string axis_label(const std::string& name) const {
    constexpr std::size_t longest = 44;
    const std::string& meaning = column(name).meaning;
    std::string clause = meaning.substr(0, clause_end(meaning));
    while (clause.ends_with(' ')) clause.pop_back();
    const bool names_it = has_word(clause, name);
    if (!names_it && is_axis(name))
      return literal_text(name);  // the meaning of an axis adds nothing
    if (!names_it && !clause.empty()) clause = fmt::format("{}: {}", name, clause);
    return literal_text(clause.empty() || clause.size() > longest ? name : clause);
  }

  [[nodiscard]] bool is_axis(const std::string& name) const {
    return std::find(plottable_.axes.begin(), plottable_.axes.end(), name) != plottable_.axes.end();
  }

  [[nodiscard]] PlotAxis plot_axis(const ColumnFacts& facts) const {
    PlotAxis axis;
    axis.label = axis_label(facts.name);
    axis.log = is_log_spaced(facts.name);
    return axis;
  }

  /// Whether the numbers are positive, span two decades or more, and lie mostly near the lower end.
  [[nodiscard]] bool is_log_spaced(const std::string& name) const {
    std::vector<double> values;
    for (std::size_t row = 0; row < table_.rows().size(); ++row) {
      values.push_back(table_.number(row, name));
    }
    std::sort(values.begin(), values.end());
    constexpr double decades = 100.0;
    return values.front() > 0.0 && values.back() >= decades * values.front() &&
           values[values.size() / 2] < 0.2 * values.back();
  }

  void draw_curves(const ColumnFacts& x) {
    const std::vector<std::string> group = groups(x);
    const LineStyle style = x.distinct < dense_grid ? LineStyle::joined : LineStyle::line;
    std::vector<std::string> units;  // the units of the panels so far, when columns share them
    for (const std::string& y : estimates()) {
      const std::string& unit = column(y).unit;
      const auto same = std::find(units.begin(), units.end(), unit);
      const bool shares = group.empty() && same != units.end();
      if (!shares && drawing_.panels.size() == most_panels) {
        drawing_.notes.push_back(fmt::format("{}: not drawn, as are later columns", y));
        break;
      }
      if (!shares) {
        drawing_.panels.push_back({"", plot_axis(x), {}, "below", {}, {}, {}});
        units.push_back(unit);
      }
      const std::size_t panel =
          shares ? static_cast<std::size_t>(same - units.begin()) : drawing_.panels.size() - 1;
      add_column(drawing_.panels[panel], x.name, y, group, style);
    }
  }

  /// The names of the columns that are drawn already and of this one, such as "Q11, Q22", as far as
  /// they fit beside the panel; its key has all of them.
  static std::string column_names(const DrawnPanel& panel, const std::string& last) {
    constexpr std::size_t most = 4;
    constexpr std::size_t most_letters = 34;
    std::vector<std::string> names;
    for (const Curve& curve : panel.curves) names.push_back(curve.look.label);
    names.push_back(literal_text(last));
    std::string out = names.front();
    for (std::size_t i = 1; i < names.size(); ++i) {
      const std::string longer = fmt::format("{}, {}", out, names[i]);
      const auto escapes = std::count(longer.begin(), longer.end(), '\\');
      const bool fits = longer.size() <= most_letters + static_cast<std::size_t>(escapes);
      if (i == most || !fits) return fmt::format("{}, ..", out);
      out = longer;
    }
    return out;
  }

  void add_column(DrawnPanel& panel, const std::string& x, const std::string& y,
                  const std::vector<std::string>& group, LineStyle style) {
    Series series{"", x, y, {}, group, {}, {}};
    series.look.style = style;
    const bool alone = !group.empty();
    if (alone) {
      panel.y.label = axis_label(y);
    } else {
      // There is one curve per column, so the columns play the part of the group.
      series.look.label = literal_text(y);
      series.look.colour = curve_colour(panel.curves.size());
      series.look.mark = curve_mark(panel.curves.size());
      const std::string& unit = column(y).unit;
      if (panel.curves.empty()) {
        panel.y.label = axis_label(y);
      } else {
        panel.y.label = unit.empty() ? column_names(panel, y) : literal_text(unit);
      }
    }
    std::vector<Curve> curves = pick_curves(series, table_);
    if (curves.size() > most_curves) {
      drawing_.notes.push_back(
          fmt::format("{}: {} of {} curves, evenly picked", y, most_curves, curves.size()));
      curves = evenly_picked(std::move(curves));
    }
    if (curves.size() > most_colours) colour_by_place(curves);
    for (Curve& curve : curves) {
      std::stable_sort(curve.points.begin(), curve.points.end(),
                       [](const Point& a, const Point& b) { return a.x < b.x; });
      panel.curves.push_back(std::move(curve));
    }
  }

  static std::vector<Curve> evenly_picked(std::vector<Curve> curves) {
    std::vector<Curve> out;
    for (std::size_t k = 0; k < most_curves; ++k) {
      out.push_back(std::move(curves[k * (curves.size() - 1) / (most_curves - 1)]));
    }
    return out;
  }

  /// Shades from the first to the last curve; the first, the last and a few between are named.
  static void colour_by_place(std::vector<Curve>& curves) {
    const std::size_t last = curves.size() - 1;
    for (std::size_t i = 0; i <= last; ++i) {
      Look& look = curves[i].look;
      look.shade = static_cast<double>(i) / static_cast<double>(last);
      if (look.style == LineStyle::dashed) look.style = LineStyle::line;
      bool named = false;
      for (std::size_t k = 0; k < named_curves; ++k) {
        named = named || i == k * last / (named_curves - 1);
      }
      if (!named) look.label.clear();
    }
  }

  void draw_maps(const std::pair<const ColumnFacts*, const ColumnFacts*>& grid) {
    std::vector<std::string> columns = estimates();
    for (const ColumnFacts& column : facts_) {
      if (column.words && column.distinct > 1 && column.distinct <= most_words) {
        columns.insert(columns.begin(), column.name);
      }
    }
    if (columns.size() > most_panels) {
      const std::vector<std::string> rest(columns.begin() + most_panels, columns.end());
      drawing_.notes.push_back(fmt::format("not drawn: {}", fmt::join(rest, ", ")));
      columns.resize(most_panels);
    }
    for (const std::string& z : columns) {
      Map map;
      map.x = grid.first->name;
      map.y = grid.second->name;
      map.z = z;
      map.label = axis_label(z);
      DrawnPanel panel{
          axis_label(z), plot_axis(*grid.first), plot_axis(*grid.second), "below", {}, {}, {}};
      panel.shades = pick_shades(map, table_);
      drawing_.panels.push_back(std::move(panel));
    }
  }

  const Plottable& plottable_;
  const Table& table_;
  std::vector<ColumnFacts> facts_;
  Drawing drawing_;
};

/// The columns that number repetitions of the same: the axis `seed`, and the `run` of a verb.
std::vector<std::string> repeats_in(const Plottable& plottable) {
  std::vector<std::string> out;
  for (const ColumnFacts& column : facts_of(plottable)) {
    const bool seed = column.axis && column.name == "seed";
    const bool run = !column.axis && !column.estimate && column.whole && column.name == "run";
    if ((seed || run) && column.distinct > 1) out.push_back(column.name);
  }
  return out;
}

}  // namespace

std::optional<Drawing> default_drawing(const std::string& id, const Plottable& plottable) {
  if (plottable.table->rows().empty()) return std::nullopt;
  const std::vector<std::string> repeats = repeats_in(plottable);
  if (repeats.empty()) return Drafter(id, plottable).draft();
  Plottable averaged = plottable;
  std::erase(averaged.axes, "seed");
  const Table table = average_repeats(*plottable.table, averaged.axes, repeats);
  averaged.table = &table;
  auto drawing = Drafter(id, averaged).draft();
  if (drawing) {
    drawing->notes.push_back(fmt::format("Averages over {}s; errors are those of the averages.",
                                         fmt::join(repeats, "s and ")));
  }
  return drawing;
}

}  // namespace onset::report
