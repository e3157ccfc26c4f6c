#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "onset/core/context.hpp"
#include "smi/model/typed/typed_link.hpp"

namespace onset::smi {

/// What is known of the teacher's directions [links 3]: those of the subspace U are known with the
/// overlap matrix `overlap` (in the basis `known`), those of the complement N not at all.
struct KnownDirections {
  Eigen::MatrixXd known;    ///< directions x |U|, orthonormal columns
  Eigen::MatrixXd open;     ///< directions x |N|, orthonormal columns of the complement
  Eigen::MatrixXd overlap;  ///< |U| x |U|, between 0 and 1; 1: known exactly

  /// Nothing is known.
  [[nodiscard]] static KnownDirections none(std::size_t directions);
  /// The same subspace, known exactly.
  [[nodiscard]] KnownDirections exactly() const;
};

/// Bounds on what the rule over labels, common to all replicates, leaves out of the averages.
struct RuleErrors {
  double pull = 0.0;
  double growth = 0.0;
};

/// Averages over labels, those of one replicate.
struct TypedAverages {
  /// E sum_m <zeta_m><zeta_m>^T over the open directions: C_1 of [links 4] where U is known
  /// exactly.
  Eigen::MatrixXd pull;
  /// E sum_mn T_mn (x) T_mn over the open directions: the map F* of [links 5].
  Eigen::MatrixXd growth;
  /// E sum_m g_m g_m^T in the basis of the known directions.
  Eigen::MatrixXd precision;
  /// E<xi xi^T> - I: 0 where every root was found.
  Eigen::MatrixXd defect;
  /// E log Z_out, the density being that of the label: Psi of [links 9].
  double log_evidence = 0.0;
  double mass = 0.0;  ///< of all labels; 1 where every one was met
  /// Moments are ratios of sums, which are biased by the square of their relative error: how much
  /// that may be, relative to pull and growth, from the difference of the two halves.
  double ratio_bias = 0.0;
  RuleErrors rule_error;

  TypedAverages& operator+=(const TypedAverages& other);
  TypedAverages& operator*=(double factor);
};

struct TypedChannelOptions {
  std::size_t points = 256;  ///< outer points per replicate
  std::size_t replicates = 8;
  double spacing = 0.0;     ///< of lines; 0: the default for the number of normals
  double refinement = 1.0;  ///< divides the spacing, and multiplies the samples of bins
  double radius = 0.0;      ///< of what is covered at overlap 0; 0: the usual one
  std::uint64_t seed = 1;
  /// Whether labels of one output are drawn by their rank; else the fields that make them are.
  bool by_rank = true;
};

/// One field is so cheap that it may have more outer points per replicate than the most of others.
[[nodiscard]] inline std::size_t most_points_of(const TypedLink& link, std::size_t max_points) {
  constexpr std::size_t more_for_one_field = 16;
  return link.fields().size() == 1 ? more_for_one_field * max_points : max_points;
}

/// The averages by quasi-Monte Carlo over what is known and the label, one per replicate.
[[nodiscard]] std::vector<TypedAverages> typed_channel(const TypedLink& link,
                                                       const KnownDirections& state,
                                                       const TypedChannelOptions& options,
                                                       const Context& context);

/// The averages where nothing is known, as integrals over the label [links 2]: more accurate by
/// far. Labels of several outputs, unless they are discrete, are drawn here too. `precision` is
/// left empty.
[[nodiscard]] std::vector<TypedAverages> typed_channel_at_zero(const TypedLink& link,
                                                               const TypedChannelOptions& options,
                                                               const Context& context);

}  // namespace onset::smi
