#pragma once

#include <atomic>
#include <filesystem>
#include <new>
#include <string>
#include <thread>

#include "onset/core/error.hpp"
#include "onset/core/verb.hpp"
#include "onset/study/sweep.hpp"

namespace onset::study {

/// A verb `toy line`: one row x, y = slope * x. A slope of -1 does not converge, -2 is refused, -3
/// is misuse, -4 has no memory, -5 throws something odd, -6 goes on until it is stopped; 100 is
/// said to be a large point.
inline Verb toy_verb() {
  Verb verb;
  verb.family = "toy";
  verb.name = "line";
  Parameter slope;
  slope.name = "slope";
  slope.fallback = 1.0;
  Parameter count;
  count.name = "count";
  count.kind = ParameterKind::integer;
  count.fallback = std::int64_t{1};
  count.max = 1000.0;
  Parameter skip;
  skip.name = "skip";
  skip.kind = ParameterKind::reals;
  skip.fallback = std::vector<double>{1.0};
  Parameter mode;
  mode.name = "mode";
  mode.kind = ParameterKind::word;
  mode.words = {"slow", "fast"};
  mode.fallback = std::string("fast");
  Parameter loud;
  loud.name = "loud";
  loud.kind = ParameterKind::flag;
  verb.parameters = {slope, count, skip, mode, loud};
  verb.columns = {{"x", "input", "", false}, {"y", "output", "", true}};
  verb.primary = "y";
  verb.default_tol = 1e-3;
  verb.cost = [](const Parameters& parameters) {
    const double s = parameters.real("slope");
    return Cost{"a product", s == 100.0 ? 1e4 : 0.1, 1e3};
  };
  verb.run = [columns = verb.columns](const Parameters& parameters, const Context& context) {
    Result result;
    result.table = Table(columns);
    const double s = parameters.real("slope");
    if (s == -2.0) throw Refused("this slope is refused");
    if (s == -3.0) throw InvalidArgument("--slope", "this slope is misuse");
    if (s == -4.0) throw std::bad_alloc();
    if (s == -5.0) throw 42;
    while (s == -6.0) {
      context.check();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    result.table.add_row({2.0, Estimate{2.0 * s, 0.5}});
    result.summary.emplace_back("seed", parameters.integer("seed"));
    if (s == -1.0) {
      result.status = ResultStatus::unconverged;
      result.reason = "it wanders";
    }
    return result;
  };
  return verb;
}

/// A folder that is gone after the test.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "onset-study-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

/// The plan of a study of the toy verb, written as in a file below its command.
class ToyPlan {
 public:
  explicit ToyPlan(const std::string& text)
      : verbs_{toy_verb()},
        plan_(make_plan(parse_study("command = 'toy line'\n" + text, "toy.toml"), verbs_)) {}
  [[nodiscard]] const Plan& operator*() const { return plan_; }
  [[nodiscard]] const Plan* operator->() const { return &plan_; }

 private:
  std::vector<Verb> verbs_;
  Plan plan_;
};

}  // namespace onset::study
