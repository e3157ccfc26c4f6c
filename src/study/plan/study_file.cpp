#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/read_file.hpp"
#include "onset/core/error.hpp"
#include "study/plan/study_reader.hpp"

namespace onset::study {

using io::complain;
using io::TomlReader;

namespace {

/// Whole numbers up to this size are exact in a double.
constexpr double largest_exact = 9007199254740992.0;

/// The points of a grid string. They become whole numbers if all of them are whole, so that a grid
/// serves whole-number parameters too.
std::vector<Value> grid_values(const TomlReader& in, const std::string& key) {
  const std::vector<double> points = in.grid(key);
  const bool whole = std::all_of(points.begin(), points.end(), [](double x) {
    return x == std::floor(x) && std::fabs(x) <= largest_exact;
  });
  std::vector<Value> out;
  for (const double x : points) {
    if (whole) {
      out.emplace_back(static_cast<std::int64_t>(x));
    } else {
      out.emplace_back(x);
    }
  }
  return out;
}

}  // namespace

Axis read_axis(const TomlReader& in, const std::string& parameter) {
  Axis axis{parameter, {}, in.place_of_key(parameter), {}};
  if (in.is_text(parameter)) {
    axis.values = grid_values(in, parameter);
  } else if (in.is_list(parameter)) {
    for (TomlReader::Item& item : in.items(parameter)) {
      axis.values.push_back(std::move(item.value));
      axis.value_places.push_back(std::move(item.place));
    }
  } else {
    complain(axis.place, fmt::format("the axis '{}' must be a list or a grid such as "
                                     "\"0.1:0.5:0.1\"; one value belongs in [fixed]",
                                     parameter));
  }
  if (axis.values.empty()) complain(axis.place, fmt::format("the axis '{}' is empty", parameter));
  return axis;
}

std::vector<std::int64_t> read_seeds(const TomlReader& in) {
  const std::string wanted = fmt::format(
      "'seeds' must be a list of whole numbers, a grid such as \"1:10:1\", or how many, 1 to {} "
      "(the seeds are then numbered from 1)",
      max_points);
  std::vector<Value> values;
  if (!in.has("seeds")) return {};
  if (in.is_text("seeds")) {
    values = grid_values(in, "seeds");
    const std::int64_t most = std::int64_t{1} << 53;
    if (std::any_of(values.begin(), values.end(), [&](const Value& value) {
          const auto* seed = std::get_if<std::int64_t>(&value);
          return seed && std::abs(*seed) >= most;
        })) {
      complain(in.place_of("seeds"),
               "seeds of 2^53 and more are not exact in a grid; allowed: a list");
    }
  } else if (in.is_list("seeds")) {
    for (const TomlReader::Item& item : in.items("seeds")) values.push_back(item.value);
  } else {
    const std::optional<double> count = in.number("seeds");
    if (!(*count >= 1.0 && *count <= static_cast<double>(max_points)) ||
        *count != std::floor(*count)) {
      complain(in.place_of("seeds"), wanted);
    }
    for (std::int64_t seed = 1; static_cast<double>(seed) <= *count; ++seed) {
      values.emplace_back(seed);
    }
  }
  std::vector<std::int64_t> seeds;
  for (const Value& value : values) {
    const auto* seed = std::get_if<std::int64_t>(&value);
    if (!seed) complain(in.place_of("seeds"), wanted);
    seeds.push_back(*seed);
  }
  if (seeds.empty()) complain(in.place_of("seeds"), wanted);
  return seeds;
}

std::vector<Tie> read_ties(const TomlReader& in) {
  std::vector<Tie> ties;
  const auto tied = in.table("tied");
  if (!tied) return ties;
  for (const std::string& name : tied->keys()) {
    if (!tied->is_text(name)) {
      complain(tied->place_of(name), fmt::format("the tied parameter '{}' must be an expression "
                                                 "such as \"0.1/sqrt(dim)\"; a number belongs "
                                                 "in [fixed]",
                                                 name));
    }
    ties.push_back({name, tied->text(name), tied->place_of(name)});
  }
  return ties;
}

Study read_study_keys(const TomlReader& in) {
  Study study;
  study.place = in.place();
  study.command = in.text("command");
  study.places["command"] = in.place_of_key("command");
  study.fixed = in.values("fixed");
  if (const auto fixed = in.table("fixed")) {
    for (const std::string& name : fixed->keys()) study.places[name] = fixed->place_of_key(name);
  }
  if (const auto axes = in.table("axes")) {
    for (const std::string& name : axes->keys()) study.axes.push_back(read_axis(*axes, name));
  }
  study.tied = read_ties(in);
  study.seeds = read_seeds(in);
  study.places["seeds"] = in.place_of_key("seeds");
  return study;
}

Study parse_study(std::string_view text, const std::filesystem::path& file) {
  const TomlReader in(text, file.string());
  in.allow_only({"command", "fixed", "axes", "tied", "seeds", "title", "description"});
  Study study = read_study_keys(in);
  study.name = file.stem().string();
  study.title = in.text_or("title", "");
  study.description = in.text_or("description", "");
  study.source = text;
  return study;
}

Study read_study(const std::filesystem::path& file) {
  const std::string text = io::read_file(file);
  if (text.starts_with("SQLite format 3")) {
    throw InvalidArgument(file.string(),
                          "is a store, not a study; allowed: the TOML file that says what to "
                          "compute (`onset report FILE` shows what a store has)");
  }
  return parse_study(text, file);
}

}  // namespace onset::study
