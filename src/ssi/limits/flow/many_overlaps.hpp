#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/core/status.hpp"
#include "onset/ssi/model/model.hpp"

namespace onset::ssi {

/// The overlaps of a student whose tokens have encodings along several directions across the
/// teacher: e_1, .., e_r, and m last. The risk and the flow are functions of these r + 1 numbers in
/// the unit ball. [ssi 44]
using OverlapList = std::vector<double>;

/// The risk at one place and its slope along every overlap.
struct ManySlopes {
  Estimate risk;
  std::vector<Estimate> slopes;
};

/// Averages over the fields of scrambled Sobol points, with both signs of what is not the
/// teacher's: 16 replicates of 8192 points, the same at every place. There are too many overlaps
/// for tables in between, so that every question is answered by an average of its own.
class ManyOverlaps {
 public:
  ManyOverlaps(const SequenceModel& model, std::uint64_t seed, const Context& context);

  [[nodiscard]] std::size_t directions() const { return encodings_.own.size(); }
  [[nodiscard]] std::size_t replicates() const { return teacher_.size(); }
  [[nodiscard]] ManySlopes risk(const OverlapList& at, const Context& context) const;
  /// The drift of the overlaps in time t = eta n/d, by one replicate. [ssi 44]
  [[nodiscard]] OverlapList drift(const OverlapList& at, double rate, std::size_t replicate) const;
  /// V = E|delta|^2 where all overlaps vanish.
  [[nodiscard]] Estimate variance_at_start() const;
  /// Roughly the core-seconds of an average over all replicates, for estimates only.
  [[nodiscard]] static double seconds(const SequenceModel& model);

 private:
  struct Averages;
  [[nodiscard]] Averages averages(const OverlapList& at, std::size_t replicate) const;
  void add(const OverlapList& at, double sign, std::size_t replicate, std::size_t first,
           Averages& sums) const;
  [[nodiscard]] std::vector<double> slopes(const OverlapList& at, const Averages& x) const;

  SequenceModel model_;
  Encodings encodings_;
  std::vector<std::vector<double>> teacher_;  ///< teacher_[r][batch after batch: i * count + p]
  std::vector<std::vector<double>> zeta_;
};

/// The overlaps at one time.
struct ManyFlowRow {
  double time = 0.0;
  Estimate e = {};  ///< the length of (e_1, .., e_r)
  Estimate m = {};
  std::vector<Estimate> each = {};  ///< e_1, .., e_r
};

struct ManyFlowPath {
  std::vector<ManyFlowRow> rows;
  /// The first time at which |m| or the length of the others reaches the level, if it is reached by
  /// all replicates.
  std::optional<Estimate> escape;
  std::size_t integrations = 0;  ///< one per replicate,
  std::size_t escaped = 0;       ///< and how many of them reach the level
  Status status;
};

struct ManyFlowOptions {
  OverlapList start;
  std::vector<double> times;
  double level = 0.5;
  double rate = 0.05;
};

/// Integrates the ODE once with every replicate; their scatter is the error.
[[nodiscard]] ManyFlowPath integrate_flow(const ManyOverlaps& field, const ManyFlowOptions& options,
                                          const Context& context);

}  // namespace onset::ssi
