#pragma once

#include <optional>
#include <vector>

#include "aim/verbs/data_folder.hpp"
#include "onset/aim/model/attention_indexed.hpp"
#include "onset/aim/model/data.hpp"
#include "onset/core/context.hpp"
#include "onset/core/parameters.hpp"

namespace onset::aim {

/// Model, sizes and --data of message passing. Model options have no default here: a folder's
/// manifest comes first.
[[nodiscard]] std::vector<Parameter> problem_parameters();

/// Fills what was not given, from the manifest of --data or else the usual defaults. Throws
/// InvalidArgument for what contradicts the folder, and without --alpha or --data.
void settle_problem(Parameters& parameters);

/// Data sets to run on: drawn, or the one of a folder.
class AmpPlan {
 public:
  explicit AmpPlan(const Parameters& settled);

  /// The model with the width ratio r/d of a whole r.
  [[nodiscard]] const AttentionIndexed& model() const { return model_; }
  [[nodiscard]] std::size_t dim() const { return dim_; }
  [[nodiscard]] const std::vector<double>& alphas() const { return alphas_; }

  struct Problem {
    Dataset data;
    std::vector<double> truth;  ///< S; empty when it is not known
  };
  [[nodiscard]] Problem problem(double alpha, std::uint64_t run, const Context& context) const;

 private:
  AttentionIndexed model_;
  std::optional<StoredData> stored_;
  std::vector<double> alphas_;
  std::size_t dim_ = 0;
  std::uint64_t seed_;
};

}  // namespace onset::aim
