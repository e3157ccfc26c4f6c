#pragma once

#include <atomic>
#include <filesystem>
#include <new>
#include <string>
#include <thread>

#include "core/definition.hpp"
#include "core/rows.hpp"
#include "onset/core/error.hpp"
#include "onset/core/verb.hpp"
#include "onset/study/sweep.hpp"

namespace onset::study {

/// A verb `toy line`: one row x, y = slope * x. A slope of -1 does not converge, -2 is refused, -3
/// is misuse, -4 has no memory, -5 throws something odd, -6 goes on until it is stopped; 100 is
/// said to be a large point. With `mode = slow` and no `skip` of its own, the skip is 2; a slope of
/// -7 does not go with it.
struct Toy {
  double slope = 1.0;
  int count = 1;
  std::vector<double> skip = {};
  std::string mode = "fast";
  bool loud = false;
  std::uint64_t seed = 1;
  double tol = 1e-3;
};

struct ToyRow {
  double x = 0.0;
  Estimate y = {};
};

inline Columns<ToyRow> toy_columns() {
  return Columns<ToyRow>().add("x", &ToyRow::x, "input").add("y", &ToyRow::y, "output");
}

struct NoModel {};

inline NoModel settle_toy(Toy& toy) {
  if (toy.skip.empty()) toy.skip = {toy.mode == "slow" ? 2.0 : 1.0};
  if (toy.slope == -7.0 && toy.mode == "slow") {
    throw InvalidArgument("slope", "does not go with `mode = slow`");
  }
  return {};
}

inline void run_toy(const Toy& toy, const NoModel&, const Context& context, Result& result) {
  const double s = toy.slope;
  if (s == -2.0) throw Refused("this slope is refused");
  if (s == -3.0) throw InvalidArgument("slope", "this slope is misuse");
  if (s == -4.0) throw std::bad_alloc();
  if (s == -5.0) throw 42;
  while (s == -6.0) {
    context.check();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  result.table = toy_columns().table({{.x = 2.0, .y = {2.0 * s, 0.5}}});
  result.summary.emplace_back("seed", static_cast<std::int64_t>(toy.seed));
  if (s == -1.0) result.unconverged("it wanders");
}

inline Definition<Toy, NoModel> toy_definition() {
  Definition<Toy, NoModel> d;
  d.family = "toy";
  d.name = "line";
  d.primary = "y";
  d.rows = {{"", toy_columns().list()}};
  d.fields.add("slope", &Toy::slope, {}, "Slope.")
      .add("count", &Toy::count, {.max = 1000.0}, "Count.")
      .add("skip", &Toy::skip, {}, "Skip.")
      .add("mode", &Toy::mode, {.words = {"slow", "fast"}}, "Mode.")
      .add("loud", &Toy::loud, {}, "Loud.");
  d.settle = settle_toy;
  d.cost = [](const Toy& toy, const NoModel&) {
    return Cost{"a product", toy.slope == 100.0 ? 1e4 : 0.1, 1e3};
  };
  d.run = run_toy;
  return d;
}

inline Verb toy_verb() {
  return toy_definition().verb();
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
