#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "mha/verify/example_fit.hpp"
#include "mha/verify/parts.hpp"
#include "numerics/parallel.hpp"

namespace onset::mha::verifier {
namespace {

/// This many slabs are kept for each entry of theta.
constexpr std::size_t slabs_per_unknown = 8;
/// Attention below this says little about its logarithm, and gives no slab.
constexpr double least_attention = 0.02;
/// Relative tolerances below this are rounding and count as equal.
constexpr double exact_tolerance = 1e-12;
/// Rounding may move a fitted attention by this, times the length of the row over the pivot: some
/// hundred times what least squares in doubles loses.
constexpr double fit_rounding = 1e-13;
/// Two attentions that differ by less than this may both be called the largest.
constexpr double tied_attention = 1e-9;
/// Rounding may change a tolerance by this share of itself.
constexpr double tolerance_rounding = 1e-9;
/// Pivots this near to the floor, relative to it, may be on either side of it.
constexpr double pivot_rounding = 1e-6;
/// The number of examples per unit of work.
constexpr std::size_t examples_per_unit = 2048;

/// A slab that a row gives, or may give if rounding is kind.
struct Candidate {
  CertifiedSlab slab;
  double tolerance = 0.0;  // relative to the norm of the normal
  double least = 0.0;      // what it may be with another rounding
  double most = 0.0;
  bool given = false;    // whether the row gives it
  bool certain = false;  // whether it does with any rounding
};

auto place_of(const CertifiedSlab& slab) {
  return std::tuple(slab.row.example, slab.row.query, slab.key, slab.reference);
}

/// The better slab comes first, and of equally good ones that of the earlier example.
bool is_better(const Candidate& a, const Candidate& b) {
  return std::tuple(a.tolerance, place_of(a.slab)) < std::tuple(b.tolerance, place_of(b.slab));
}

void keep_best(std::vector<Candidate>& list, std::size_t count) {
  if (list.size() <= count) return;
  std::nth_element(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count), list.end(),
                   is_better);
  list.resize(count);
}

/// The slabs of a list that are about one row. They have one reference in common.
struct ListedRow {
  int reference = 0;
  std::vector<int> keys;

  [[nodiscard]] bool has(int key) const {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  }
};
using ListedRows = std::map<std::pair<std::uint32_t, int>, ListedRow>;

/// Every slab of a row: each key that is attended to against the most attended one, or against the
/// one that the list names if there is nothing between the two.
void add_candidates(const ExampleFit& fit, const CertifiedRow& place, const ListedRow* listed,
                    std::vector<Candidate>& out) {
  const double pivot_share = fit.pivot() / fit.longest();
  if (!(pivot_share > pivot_floor * (1.0 - pivot_rounding))) return;
  const FittedRow row = fit.fit(place.query);
  const Vector& p = row.attention;
  const double wobble = fit_rounding * (fit.longest() + fit.label(place.query)) / fit.pivot();
  const double lowest = p.minCoeff();
  if (!(lowest >= -simplex_slack - wobble)) return;
  Index largest = 0;
  const double most_attended = p.maxCoeff(&largest);
  int e = static_cast<int>(largest);
  if (listed != nullptr && p[listed->reference] >= most_attended - tied_attention - wobble) {
    e = listed->reference;
  }
  const bool row_given = lowest >= -simplex_slack && pivot_share > pivot_floor;
  const bool row_certain =
      lowest >= -simplex_slack + wobble && pivot_share > pivot_floor * (1.0 + pivot_rounding);
  const double query = fit.tokens().row(place.query).norm();
  for (int c = 0; c < static_cast<int>(p.size()); ++c) {
    if (c == e || !(p[c] > 0.0) || !(p[c] >= least_attention - wobble)) continue;
    const double norm = query * (fit.tokens().row(c) - fit.tokens().row(e)).norm();
    if (!(norm > 0.0)) continue;  // for equal keys the slab says nothing about theta
    const double width = (1.0 / p[c] + 1.0 / p[e]) / norm;
    const double tolerance = row.residual / fit.pivot() * width;
    const double slack =
        wobble * width + tolerance * (wobble / std::min(p[c], p[e]) + tolerance_rounding);
    out.push_back({{place, c, e},
                   std::max(tolerance, exact_tolerance),
                   std::max(tolerance - slack, exact_tolerance),
                   std::max(tolerance + slack, exact_tolerance),
                   row_given && p[c] >= least_attention,
                   row_certain && p[c] >= least_attention + wobble});
  }
}

/// A list of slabs held against the examples.
class ListedSlabs {
 public:
  ListedSlabs(const std::vector<CertifiedSlab>& listed, const Eigen::MatrixXd& sum,
              const Examples& examples, const std::vector<bool>& looked_at)
      : most_(slabs_per_unknown * static_cast<std::size_t>(examples.dim) *
              static_cast<std::size_t>(examples.dim)),
        size_(listed.size()),
        full_(size_ >= most_) {
    if (size_ > most_) wrong_ += size_ - most_;
    for (const CertifiedSlab& slab : listed) {
      const auto [at, added] = rows_.try_emplace({slab.row.example, slab.row.query});
      ListedRow& row = at->second;
      if (added) row.reference = slab.reference;
      if (!looked_at[slab.row.example] || slab.reference != row.reference || row.has(slab.key)) {
        ++wrong_;
        continue;
      }
      row.keys.push_back(slab.key);
      std::vector<Candidate> given;
      add_candidates(ExampleFit(examples, slab.row.example, sum), slab.row, &row, given);
      const auto same = std::find_if(given.begin(), given.end(), [&](const Candidate& candidate) {
        return place_of(candidate.slab) == place_of(slab);
      });
      if (same == given.end()) {
        ++wrong_;
      } else {
        worst_ = std::max(worst_, same->least);
      }
    }
  }

  /// How many slabs a list may have.
  [[nodiscard]] std::size_t most() const { return most_; }
  /// How many slabs the list has that the examples do not give.
  [[nodiscard]] std::size_t wrong() const { return wrong_; }
  [[nodiscard]] const ListedRow* row(std::uint32_t example, int query) const {
    const auto found = rows_.find({example, query});
    return found == rows_.end() ? nullptr : &found->second;
  }
  /// How many slabs the list may still take.
  [[nodiscard]] std::size_t room() const { return full_ ? 0 : most_ - size_; }
  /// Whether the list lacks a slab that belongs there, however numbers were rounded.
  [[nodiscard]] bool lacks(const Candidate& candidate) const {
    if (!candidate.certain || (full_ && !(candidate.most < worst_))) return false;
    const ListedRow* listed = row(candidate.slab.row.example, candidate.slab.row.query);
    return listed == nullptr || !listed->has(candidate.slab.key);
  }

 private:
  std::size_t most_;
  std::size_t size_;
  bool full_;
  std::size_t wrong_ = 0;
  double worst_ = 0.0;  // the least that the tolerance of the worst slab may be
  ListedRows rows_;
};

struct Part {
  std::size_t lacking = 0;
  std::vector<Candidate> best;
};

bool same_slabs(std::vector<CertifiedSlab> a, std::vector<CertifiedSlab> b) {
  const auto before = [](const CertifiedSlab& s, const CertifiedSlab& t) {
    return place_of(s) < place_of(t);
  };
  const auto equal = [](const CertifiedSlab& s, const CertifiedSlab& t) {
    return place_of(s) == place_of(t);
  };
  std::sort(a.begin(), a.end(), before);
  std::sort(b.begin(), b.end(), before);
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), equal);
}

}  // namespace

SlabChoice slab_choice(const std::vector<CertifiedSlab>& listed, std::span<const double> w,
                       const Examples& examples, const std::vector<bool>& looked_at,
                       const Context& context) {
  const Eigen::MatrixXd sum = Eigen::Map<const Matrix>(w.data(), examples.dim, examples.dim);
  const ListedSlabs list(listed, sum, examples, looked_at);
  std::vector<Part> parts((examples.count + examples_per_unit - 1) / examples_per_unit);
  numerics::parallel_for(context, parts.size(), [&](std::size_t unit) {
    Part& part = parts[unit];
    std::vector<Candidate> given;
    const std::size_t end = std::min(examples.count, (unit + 1) * examples_per_unit);
    for (std::size_t n = unit * examples_per_unit; n < end; ++n) {
      if (!looked_at[n]) continue;
      const ExampleFit fit(examples, n, sum);
      given.clear();
      for (int query = 0; query < examples.tokens; ++query) {
        const auto example = static_cast<std::uint32_t>(n);
        add_candidates(fit, {example, query}, list.row(example, query), given);
      }
      for (const Candidate& candidate : given) {
        part.lacking += list.lacks(candidate) ? 1 : 0;
        if (candidate.given) part.best.push_back(candidate);
      }
      if (part.best.size() > 2 * list.most()) keep_best(part.best, list.most());
    }
    keep_best(part.best, list.most());
  });
  SlabChoice out;
  out.wrong = list.wrong();
  std::vector<Candidate> best;
  for (const Part& part : parts) {
    out.lacking += part.lacking;
    best.insert(best.end(), part.best.begin(), part.best.end());
    if (best.size() > 2 * list.most()) keep_best(best, list.most());
  }
  if (list.room() > 0) out.lacking = std::min(out.lacking, list.room());
  keep_best(best, list.most());
  std::sort(best.begin(), best.end(), is_better);
  std::transform(best.begin(), best.end(), std::back_inserter(out.best),
                 [](const Candidate& candidate) { return candidate.slab; });
  out.same = same_slabs(out.best, listed);
  return out;
}

}  // namespace onset::mha::verifier
