#include "ssi/verbs/sgd_options.hpp"

#include <algorithm>
#include <cmath>

#include "onset/core/error.hpp"
#include "ssi/verbs/model_options.hpp"

namespace onset::ssi {

std::vector<Parameter> sgd_parameters() {
  std::vector<Parameter> list;
  list.push_back(make_parameter("dim", ParameterKind::real, 1000.0, 3.0, 1e12,
                                "Dimension d of a token, a whole number."));
  list.push_back(make_parameter("rate", ParameterKind::real, 0.05, 0.0, 1e6,
                                "Learning rate eta: w <- w - eta grad l, then |w|^2 = d."));
  list.back().open_min = true;
  list.push_back(make_parameter("runs", ParameterKind::integer, std::int64_t{256}, 1, 1e7,
                                "Independent runs."));
  list.push_back(make_word("start", {"random", "zero", "overlapped"},
                           "random: uniform on the sphere; zero: e = m = 0 exactly; overlapped: "
                           "m = 1/sqrt(d), e = 0."));
  list.push_back(make_parameter("level", ParameterKind::real, 0.5, 0.0, 1.0,
                                "Overlap max(|e|, |m|) whose first passage is recorded."));
  list.back().open_min = true;
  return list;
}

SgdOptions read_sgd(const Parameters& p) {
  SgdOptions options;
  options.dim = p.real("dim");
  if (options.dim != std::floor(options.dim)) {
    throw InvalidArgument("--dim", to_text(Value(options.dim)) +
                                       " is not whole; allowed: whole numbers from 3 to 1e12");
  }
  options.rate = p.real("rate");
  options.runs = static_cast<std::size_t>(p.integer("runs"));
  options.level = p.real("level");
  options.seed = static_cast<std::uint64_t>(p.integer("seed"));
  const std::string& start = p.text("start");
  options.start = start == "zero"     ? Start::zero
                  : start == "random" ? Start::random
                                      : Start::overlapped;
  return options;
}

double whole_steps(const Parameters& p) {
  const double steps = p.real("steps");
  if (steps == std::floor(steps)) return steps;
  throw InvalidArgument("--steps",
                        to_text(Value(steps)) + " is not whole; allowed: whole numbers up to 1e15");
}

Estimate binomial(std::size_t successes, std::size_t runs) {
  const auto k = static_cast<double>(successes);
  const auto n = static_cast<double>(runs);
  return {k / n, std::sqrt((k + 1.0) * (n - k + 1.0) / (n + 3.0)) / (n + 2.0)};
}

bool is_converged(const SgdRun& run) {
  return std::max(std::abs(run.e), std::abs(run.m)) > converged_overlap;
}

bool is_semantic(const SgdRun& run) {
  return is_converged(run) && std::abs(run.m) > std::abs(run.e);
}

Artifact runs_artifact(const std::vector<SgdRun>& runs, const std::string& path) {
  Table table({{"run", "number of the run", "", false},
               {"e", "last positional overlap", "", false},
               {"m", "last semantic overlap", "", false},
               {"first_passage", "first step at the level; empty: none", "", false},
               {"converged", "whether max(|e|, |m|) > 0.5 at the end", "", false}});
  for (std::size_t r = 0; r < runs.size(); ++r) {
    Cell passage;
    if (runs[r].first_passage > 0) passage = static_cast<std::int64_t>(runs[r].first_passage);
    table.add_row(
        {static_cast<std::int64_t>(r + 1), runs[r].e, runs[r].m, passage, is_converged(runs[r])});
  }
  return {path, std::move(table)};
}

}  // namespace onset::ssi
