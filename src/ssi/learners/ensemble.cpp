#include "ssi/learners/ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "onset/numerics/replicates.hpp"

namespace onset::ssi {

bool is_converged(const SgdRun& run) {
  return std::max(std::abs(run.e), std::abs(run.m)) > converged_overlap;
}

bool is_semantic(const SgdRun& run) {
  return is_converged(run) && std::abs(run.m) > std::abs(run.e);
}

std::int64_t count_reached(const std::vector<SgdRun>& runs) {
  return std::count_if(runs.begin(), runs.end(),
                       [](const SgdRun& run) { return run.first_passage > 0; });
}

Estimate reached_fraction(const std::vector<SgdRun>& runs) {
  return numerics::binomial_fraction(count_reached(runs), std::ssize(runs));
}

std::optional<Estimate> mean_passage(const std::vector<SgdRun>& runs) {
  std::vector<double> steps;
  for (const SgdRun& run : runs) {
    if (run.first_passage > 0) steps.push_back(static_cast<double>(run.first_passage));
  }
  if (steps.empty()) return std::nullopt;
  return numerics::mean_over_runs(steps);
}

Estimate mean_size(const std::vector<SgdRun>& runs, double SgdRun::*overlap) {
  std::vector<double> sizes;
  for (const SgdRun& run : runs) sizes.push_back(std::abs(run.*overlap));
  return numerics::mean_over_runs(sizes);
}

}  // namespace onset::ssi
