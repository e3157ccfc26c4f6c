#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "aim/model/attention_indexed.hpp"
#include "aim/model/data.hpp"
#include "onset/core/context.hpp"

namespace onset::aim {

/// Samples that no learner has seen, on whose labels predictions are tried. An error is the squared
/// one summed over the entries of a label, or, with hardmax, the share of rows whose choice is
/// wrong; means over samples [aim 41].
class LabelTest {
 public:
  static constexpr std::size_t samples = 2000;

  /// Draws tokens and the labels that the matrix `truth` (d x d) makes; `index` tells runs apart.
  /// It keeps 8 n T d bytes for n = `samples`.
  LabelTest(const AttentionIndexed& model, std::vector<double> truth, std::size_t dim,
            std::uint64_t seed, std::uint64_t index, const Context& context);

  /// The error of the label that a matrix makes.
  [[nodiscard]] double plug_in(const std::vector<double>& matrix, const Context& context) const;
  /// The error of the best prediction where scores are those of the matrix plus unknown parts of
  /// variance V (1 + delta_ab): the mean of the label, or the most probable choice.
  [[nodiscard]] double best(const std::vector<double>& matrix, double variance,
                            const Context& context) const;
  /// The error of the mean of the labels that several matrices make. For labels that are numbers.
  [[nodiscard]] double mean_of(const std::vector<std::vector<double>>& matrices,
                               const Context& context) const;

 private:
  /// Plain numbers of the labels of all samples, probabilities among them.
  [[nodiscard]] std::vector<double> labels_of(const std::vector<double>& scores) const;
  [[nodiscard]] std::vector<double> scores(const std::vector<double>& matrix,
                                           const Context& context) const;
  [[nodiscard]] double error(const std::vector<double>& prediction) const;
  [[nodiscard]] double error_of_means(const std::vector<double>& scores, double variance) const;
  [[nodiscard]] double error_of_choices(const std::vector<double>& scores, double variance) const;

  AttentionIndexed model_;
  std::uint64_t seed_;
  std::uint64_t index_;
  Dataset data_;  ///< its labels are plain numbers
};

}  // namespace onset::aim
