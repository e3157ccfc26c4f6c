#include <algorithm>
#include <cmath>
#include <limits>

#include "mha/verify/example_fit.hpp"
#include "mha/verify/parts.hpp"

namespace onset::mha::verifier {
namespace {

/// How many of the best rows are used for each unknown that a row sees.
constexpr int rows_per_unknown = 8;
constexpr std::size_t examples_between_stops = 1024;

struct ScoredRow {
  double score = 0.0;
  double residual = 0.0;
};

void add_rows(const ExampleFit& fit, std::vector<ScoredRow>& rows) {
  if (!(fit.pivot() > pivot_floor * fit.longest())) return;
  for (int query = 0; query < fit.tokens().rows(); ++query) {
    const FittedRow row = fit.fit(query);
    if (row.attention.minCoeff() < -simplex_slack) continue;
    rows.push_back({row.residual / fit.pivot(), row.residual});
  }
}

}  // namespace

double noise_bound(const Certificate& certificate, const Examples& examples,
                   const Context& context) {
  const Eigen::MatrixXd sum =
      Eigen::Map<const Matrix>(certificate.counted.w.data(), examples.dim, examples.dim);
  std::vector<bool> looked_at = first_of_orbits(examples);
  for (const std::uint32_t n : certificate.held_out) looked_at[n] = false;
  std::vector<ScoredRow> rows;
  double labels = 0.0;
  std::size_t count = 0;
  for (std::size_t n = 0; n < examples.count; ++n) {
    if (n % examples_between_stops == 0) context.check();
    if (!looked_at[n]) continue;
    ++count;
    for (std::size_t e = n * examples.width(); e < (n + 1) * examples.width(); ++e) {
      labels += examples.y[e] * examples.y[e];
    }
    add_rows(ExampleFit(examples, n, sum), rows);
  }
  const auto best = std::min(
      rows.size(), static_cast<std::size_t>(rows_per_unknown * examples.dim * examples.dim) /
                       static_cast<std::size_t>(examples.tokens - 1));
  if (best == 0) return 0.0;
  std::nth_element(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(best - 1), rows.end(),
                   [](const ScoredRow& a, const ScoredRow& b) { return a.score < b.score; });
  double left = 0.0;
  for (std::size_t r = 0; r < best; ++r) left += rows[r].residual * rows[r].residual;
  const int free = std::max(1, examples.dim - examples.tokens + 1);
  const double noise = left / static_cast<double>(best) / free;
  return std::sqrt(noise * static_cast<double>(count * examples.width()) / labels);
}

}  // namespace onset::mha::verifier
