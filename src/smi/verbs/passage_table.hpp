#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/rows.hpp"
#include "smi/learners/sgd.hpp"

namespace onset::smi {

/// The cosine at which a layer counts as learned unless said otherwise.
inline constexpr double default_level = 0.5;

/// A row with --level.
struct PassageRow {
  std::size_t layer = 0;
  std::optional<Estimate> time = {};
  Estimate reached = {};
  Estimate first = {};
};

[[nodiscard]] Columns<PassageRow> passage_columns();

/// When layers are learned: the first records at which their cosines reach a level.
class Passages {
 public:
  Passages(const std::vector<SgdRun>& runs, std::size_t layers, double level);

  /// One row per layer.
  [[nodiscard]] std::vector<PassageRow> rows() const;
  /// learned_first (the layer that is first most often; none where no run reached the level) and
  /// first_fraction.
  [[nodiscard]] std::vector<std::pair<std::string, Cell>> summary() const;
  /// Whether some runs brought some layer to the level, and others did not.
  [[nodiscard]] bool differ() const;

 private:
  struct Layer {
    std::vector<double> times;  ///< of the runs that reached the level
    std::int64_t first = 0;     ///< runs in which it was before all others
  };
  std::vector<Layer> layers_;
  std::size_t runs_;
  double resolution_ = 0.0;
};

/// The same rows for the limit of large dimension, which reaches a level or not; times are
/// interpolated between records. Where its errors leave it open whether, or which layer first, the
/// error is not a number.
[[nodiscard]] std::vector<PassageRow> flow_passages(const SgdFlow& flow, std::size_t layers,
                                                    double level);

}  // namespace onset::smi
