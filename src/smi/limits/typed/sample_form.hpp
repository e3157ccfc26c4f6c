#pragma once

#include <Eigen/Core>
#include <vector>

#include "smi/limits/typed/typed_channel.hpp"
#include "smi/model/typed/level_lines.hpp"
#include "smi/model/typed/typed_posterior.hpp"

namespace onset::smi {

/// log Z_out from both halves. The logarithm of a noisy number is too small by half its variance,
/// which is added.
[[nodiscard]] double log_evidence(const TypedMoments& moments);

/// How the fields of a sample follow from standard normals, token by token: z = omega + A xi with
/// A A^T = V, of which only the fields that the link reads are kept, and what moments of xi say of
/// the directions [links 1, 3].
class SampleForm {
 public:
  SampleForm(const TypedLink& link, const KnownDirections& state);

  /// A, over the fields of the link.
  [[nodiscard]] const FieldMatrix& matrix() const { return matrix_; }
  [[nodiscard]] std::size_t normals() const { return static_cast<std::size_t>(matrix_.cols()); }
  /// Normals that make omega.
  [[nodiscard]] std::size_t centres() const { return static_cast<std::size_t>(centre_.cols()); }
  [[nodiscard]] const Eigen::MatrixXd& centre() const { return centre_; }

  /// Whether labels are discrete given what is known: the link is, or every field that it changes
  /// with by more than jumps is known exactly.
  [[nodiscard]] bool labels_are_discrete(const TypedLink& link) const;
  /// Normals that make fields; those of noise come after them.
  [[nodiscard]] std::size_t field_normals() const;
  /// sum_m L_m X_mm L_m^T with <zeta_m> = L_m <xi_m>: a matrix over the normals that make fields,
  /// summed over tokens, as one over the open directions.
  [[nodiscard]] Eigen::MatrixXd over_directions(const Eigen::MatrixXd& over_normals) const;

  /// Adds what one label says, with its weight.
  void add(const TypedMoments& moments, double weight, TypedAverages& to) const;
  [[nodiscard]] TypedAverages zero() const;

 private:
  struct Token {
    Eigen::Index first;  ///< its normals
    Eigen::Index size;
    Eigen::MatrixXd open;   ///< |N| x size: <zeta> = open <xi>
    Eigen::MatrixXd known;  ///< |U| x size: g = known <xi>
  };
  std::vector<Token> tokens_;
  FieldMatrix matrix_;
  Eigen::MatrixXd centre_;
  Eigen::Index open_ = 0;
  Eigen::Index known_ = 0;
};

}  // namespace onset::smi
