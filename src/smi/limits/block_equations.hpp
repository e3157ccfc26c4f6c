#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <optional>
#include <vector>

#include "smi/limits/spectral_law.hpp"

namespace onset::smi {

using Labels = std::vector<LabelExcess>;

/// X -> sum_ab A_ab X B_ab^T as a matrix over the entries of X, row by row; A_ab and B_ab are the
/// token blocks of two matrices over direction * tokens + token.
[[nodiscard]] Eigen::MatrixXd token_kronecker(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                                              Eigen::Index tokens);

/// The equations of one block of a spectral method under one replicate's labels [links 35-38].
class BlockEquations {
 public:
  /// Averages over labels at one Theta [links 35].
  struct At {
    Eigen::MatrixXd sum;     ///< E sum_a K_aa
    Eigen::MatrixXd square;  ///< X -> E sum_ab K_ab X K_ba
  };

  BlockEquations(const Labels& labels, const SpectralLaw& law, std::size_t block, double alpha,
                 double gamma);

  /// K = G (gamma + (I - Theta) G)^{-1}, which stays finite where T is not.
  [[nodiscard]] Eigen::MatrixXd kernel(const Eigen::MatrixXd& g,
                                       const Eigen::MatrixXd& theta) const;

  [[nodiscard]] At at(const Eigen::MatrixXd& theta) const;

  void add_any(const Eigen::MatrixXd& theta, At& out) const;

  /// s -> E sum_ab K_ab s G_ba of another block's directions.
  [[nodiscard]] Eigen::MatrixXd signal(const Eigen::MatrixXd& theta, std::size_t other) const;

  /// B of [links 37]: positive to the right of the bulk.
  [[nodiscard]] Eigen::MatrixXd stability(const Eigen::MatrixXd& theta, const At& now) const;

  /// 1 - the spectral radius of [links 36]; the edge is where it vanishes.
  [[nodiscard]] double gap(const Eigen::MatrixXd& theta, const At& now) const;

  /// Theta at an eigenvalue to the right of the bulk: the smallest solution of [links 35], by
  /// Newton's method from below, where it is monotone. Nothing inside the bulk.
  [[nodiscard]] std::optional<Eigen::MatrixXd> theta(double lambda) const;

  /// One direction: the gap falls as Theta grows, and vanishes before Theta = 1 where the edge is
  /// not set by the largest labels.
  [[nodiscard]] std::optional<double> single_edge() const;

  /// The bulk edge, from above: the squared gap falls to 0 linearly there. None where so many
  /// labels have a singular S that the whole bulk goes to minus infinity: the labels fix the
  /// weights.
  [[nodiscard]] std::optional<double> edge() const;

  /// Eigenvalues of the map of outliers at Theta [links 36], from the largest on, and eigenvectors
  /// s, by the blocks they are about.
  struct Modes {
    std::vector<double> value;
    std::vector<Eigen::VectorXd> overlap;  ///< entries of s, with |s| = 1
    std::vector<std::size_t> other;
  };
  [[nodiscard]] Modes modes(const Eigen::MatrixXd& theta) const;

  /// The mean squared overlap over an eigenspace of modes [links 37].
  [[nodiscard]] double mean_overlap(const Eigen::MatrixXd& theta, const Modes& modes,
                                    const std::vector<std::size_t>& space) const;

  /// The eigenvalue at which mode k is an outlier, above the edge.
  [[nodiscard]] double outlier(std::size_t k, double edge) const;

 private:
  struct WeightedEigenvalue {
    double weight;
    double g;
  };
  const Labels* labels_;
  std::vector<WeightedEigenvalue> single_;  ///< of one direction
  Eigen::Index tokens_;
  Eigen::Index size_;
  std::size_t block_;
  std::size_t blocks_;
  double alpha_;
  double gamma_;
};

}  // namespace onset::smi
