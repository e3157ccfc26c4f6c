#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "onset/core/error.hpp"
#include "onset/core/verb.hpp"
#include "onset/report/figure_data.hpp"

namespace onset::report {

/// A verb `toy line`: rows alpha, y = slope * alpha with error 0.1, kind "low" below 1 else "high".
/// A negative slope does not converge, and one above 100 fails.
inline Verb toy_verb() {
  Verb verb;
  verb.family = "toy";
  verb.name = "line";
  Parameter slope;
  slope.name = "slope";
  slope.fallback = 1.0;
  Parameter alpha;
  alpha.name = "alpha";
  alpha.kind = ParameterKind::grid;
  alpha.required = true;
  verb.parameters = {slope, alpha};
  verb.columns = {{"alpha", "", "", false}, {"y", "", "", true}, {"kind", "", "", false}};
  verb.primary = "y";
  verb.default_tol = 1e-3;
  verb.run = [columns = verb.columns](const Parameters& parameters, const Context& context) {
    context.check();
    if (parameters.real("slope") > 100.0)
      throw InvalidArgument("slope", "<script>too steep</script>");
    Result result;
    result.table = Table(columns);
    for (const double x : parameters.reals("alpha")) {
      const std::string kind = x < 1.0 ? "low" : "high";
      result.table.add_row({x, Estimate{parameters.real("slope") * x, 0.1}, kind});
    }
    if (parameters.real("slope") < 0.0) {
      result.status = ResultStatus::unconverged;
      result.reason = "a negative slope";
    }
    return result;
  };
  return verb;
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
