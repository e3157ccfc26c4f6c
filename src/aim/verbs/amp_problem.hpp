#pragma once

#include <optional>
#include <vector>

#include "aim/verbs/data_folder.hpp"
#include "core/fields.hpp"
#include "onset/aim.hpp"
#include "onset/core/context.hpp"

namespace onset::aim {

/// Model, sizes and `data` of message passing. Fields of the model have no default here: a folder's
/// manifest comes first.
[[nodiscard]] Fields<Amp> problem_fields();

/// The problems of a request: drawn, or the one of a folder.
struct AmpProblem {
  AttentionIndexed model;          ///< with the width ratio r/d of a whole r
  std::optional<DataFiles> files;  ///< of `data`
  std::size_t dim = 0;
  std::uint64_t seed = 1;
  device::DeviceKind device = device::DeviceKind::cpu;
};

/// Data sets of a problem; the constructor reads those of a folder.
class AmpSamples {
 public:
  explicit AmpSamples(const AmpProblem& problem);

  /// The first n = alpha d^2 samples of the folder, or as many new ones for each run. The truth S
  /// is empty where it is not known.
  [[nodiscard]] StoredData at(double alpha, std::uint64_t run, const Context& context) const;

 private:
  const AmpProblem& problem_;
  std::optional<StoredData> stored_;
};

/// Fills what was not given, from the folder of `data` or else the usual defaults. Throws
/// InvalidArgument for what contradicts the folder, and without `alpha` or `data`; IoError for
/// files that do not fit; Refused for a channel without an output function.
[[nodiscard]] AmpProblem settle_problem(Amp& request);

}  // namespace onset::aim
