#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "core/definition.hpp"
#include "core/rows.hpp"
#include "onset/core/error.hpp"
#include "onset/core/verb.hpp"
#include "report/figure_data.hpp"

namespace onset::report {

/// A verb `toy line`: rows alpha, y = slope * alpha with error 0.1, kind "low" below 1 else "high".
/// A negative slope does not converge, and one above 100 fails.
struct Toy {
  double slope = 1.0;
  std::vector<double> alpha = {};
  std::optional<std::string> kind = {};  ///< has no effect; a column has the name too
  std::uint64_t seed = 1;
  double tol = 1e-3;
};

struct ToyRow {
  double alpha = 0.0;
  Estimate y = {};
  std::string kind = {};
};

inline Columns<ToyRow> toy_columns() {
  return Columns<ToyRow>()
      .add("alpha", &ToyRow::alpha, "")
      .add("y", &ToyRow::y, "")
      .add("kind", &ToyRow::kind, "");
}

struct NoModel {};

inline void run_toy(const Toy& toy, const NoModel&, const Context& context, Result& result) {
  context.check();
  if (toy.slope > 100.0) throw InvalidArgument("slope", "<script>too steep</script>");
  result.table = toy_columns().table();
  for (const double x : toy.alpha) {
    result.table.add_row(toy_columns().cells(
        {.alpha = x, .y = {toy.slope * x, 0.1}, .kind = x < 1.0 ? "low" : "high"}));
  }
  if (toy.slope < 0.0) result.unconverged("a negative slope");
}

inline Verb toy_verb() {
  Definition<Toy, NoModel> d;
  d.family = "toy";
  d.name = "line";
  d.primary = "y";
  d.rows = {{"", toy_columns().list()}};
  d.fields.add("slope", &Toy::slope, {}, "Slope.")
      .add("alpha", &Toy::alpha, {.required = true, .grid = true}, "Alpha.")
      .add("kind", &Toy::kind, {}, "A word.");
  d.settle = [](Toy&) { return NoModel{}; };
  d.cost = [](const Toy&, const NoModel&) { return Cost{}; };
  d.run = run_toy;
  return d.verb();
}

/// A figure of one panel with the given body of its run and of its series.
inline std::string toy_figure(const std::string& run, const std::string& series) {
  return "title = 'Toy'\n[[run]]\nid = 'line'\ncommand = 'toy line'\n" + run +
         "\n[[panel]]\nx = {label = 'alpha'}\ny = {label = 'y'}\n"
         "[[panel.series]]\nrun = 'line'\n" +
         series;
}

/// An empty folder of the running test, gone with the fixture.
class FolderTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->test_suite_name() /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Computes a figure with the toy verb in a store of this folder.
  [[nodiscard]] FigureData compute(const FigureSpec& spec, const FigureOptions& options = {},
                                   const Context& context = {}) const {
    study::Store store(folder_ / "toy.db", study::Store::Mode::write);
    static const std::vector<Verb> verbs{toy_verb()};
    return compute_figure(spec, verbs, options, store, context);
  }

  std::filesystem::path folder_;
};

}  // namespace onset::report
