#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "onset/smi/model/posterior.hpp"
#include "smi/model/posterior/laplace_proposal.hpp"

/// What the two-token posterior is asked, with which nodes it integrates, and what it makes of the
/// sums over them: the same on every device.
namespace onset::smi::two_token {

/// The numbers of nodes of the proposals A, B and C.
struct NodeCounts {
  explicit NodeCounts(std::size_t nodes) : prior(nodes), last(nodes / 2), centre(nodes / 4) {}
  std::size_t prior, last, centre;
};

/// The number of sets of nodes, given how many a set has.
[[nodiscard]] std::size_t node_sets(std::size_t nodes);

/// Standard normals of the nodes of all sets: ((set * (layers - 1) + layer) * 2 + coordinate) *
/// nodes/2 + node. Each stands for itself and its reflection.
[[nodiscard]] std::vector<double> node_normals(int layers, const PosteriorOptions& options);

/// The set of nodes of an estimate, and how it is rotated.
struct NodeKey {
  std::size_t set;
  std::uint64_t key;
  /// The angle of a layer's rotation, in whole turns.
  [[nodiscard]] double turn(std::size_t layer) const;
};

/// Samples of a query one by one, tokens rotated.
class Questions {
 public:
  explicit Questions(const PosteriorQuery& query);
  /// `centre` becomes empty where the query has none.
  void read(std::size_t i, TwoTokenSample& sample, std::vector<Plane>& centre) const;
  /// The nodes of sample i's estimate 0 or 1, among sets of so many.
  [[nodiscard]] NodeKey key(std::size_t i, std::uint64_t estimate, const NodeCounts& nodes) const;
  [[nodiscard]] std::span<const double> deviation() const { return deviation_; }

 private:
  void read(std::span<const double> from, std::size_t i, std::vector<Plane>& to) const;

  const PosteriorQuery& query_;
  std::vector<double> deviation_;
};

/// Weighted sums of one layer: 1, p, m, p p, p m, m m.
using PlaneSums = std::array<double, 6>;

/// The same of the first half of the nodes and of all.
struct BatchSums {
  PlaneSums first{};
  PlaneSums all{};
};

/// Writes the moments of sample i from the sums of every layer, in units of exp(-shift).
void store(std::span<const BatchSums> layers, double shift, const NodeCounts& nodes, std::size_t i,
           PosteriorMoments::Half& out);

/// A vector that tells the two sides of a field apart.
[[nodiscard]] Plane side_of(Plane centre);

}  // namespace onset::smi::two_token
