#include <algorithm>
#include <cmath>

#include "mha/learners/net/tuple_certificate.hpp"
#include "mha/learners/phase_run.hpp"
#include "mha/model/canonical.hpp"

// Phase 5, and the least squares with which phase 6 begins.

namespace onset::mha {
namespace {

constexpr double min_multiplier = 1e-9;  // a smaller one is rounding; they sum to 1
/// Bounds below this share of the labels are no proof: multipliers are orthogonal to rounding only.
constexpr double min_rejection = 1e-5;

}  // namespace

void SixPhases::find_heads() {
  const Subset small = head_of(train_, fit_examples(train_, out_.heads));
  const NetSearch net = search_net(small, hull_, out_.heads, context_);
  PhaseReport entry{5, "net and tuples", net.tuples};
  entry.violations = 0.0;
  for (const Vector& theta : net.best.front()) {
    entry.violations = std::max(*entry.violations, violations(theta));
  }
  add_tuple_certificates(net);
  finish(entry);
  const Subset wider = head_of(train_, 4 * small.size());
  out_.geometry = canonical(fit_projections(wider, net.best.front()), merge_tolerance);
  out_.evaluations += net.evaluations + wider.size();
  out_.geometry_residual = relative_residual(held_, out_.geometry, context_);
  PhaseReport squares{6, "least squares", wider.size()};
  squares.residual = out_.geometry_residual;
  finish(squares);
}

/// Runs the linear program on the found tuple, and on one with a head moved to the middle of the
/// hull. Since it rejects the second, it could have rejected the first.
void SixPhases::add_tuple_certificates(const NetSearch& net) {
  const Subset few =
      head_of(train_, std::max<std::size_t>(40, 8 * static_cast<std::size_t>(out_.heads) *
                                                    train_.dim() / train_.tokens()));
  std::vector<Vector> thetas = net.best.front();
  out_.evidence.tuple_tau = certify_tuple(few, thetas, context_).tau;
  if (thetas.size() < 2) return;
  thetas.front() = hull_.base;
  const TupleCertificate wrong = certify_tuple(few, thetas, context_);
  if (!(wrong.tau > min_rejection * label_size_)) return;
  RejectedTuple& rejected = out_.evidence.rejected;
  rejected.output = wrong.output;
  rejected.bound = wrong.tau;
  for (const Vector& theta : thetas) {
    rejected.thetas.insert(rejected.thetas.end(), theta.begin(), theta.end());
  }
  for (Index r = 0; r < wrong.multipliers.size(); ++r) {
    if (std::abs(wrong.multipliers[r]) < min_multiplier) continue;
    const auto row = static_cast<std::size_t>(r);
    rejected.rows.push_back({few.index[row / few.tokens()], static_cast<int>(row % few.tokens())});
    rejected.multipliers.push_back(wrong.multipliers[r]);
  }
}

}  // namespace onset::mha
