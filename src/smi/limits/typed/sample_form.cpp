#include "smi/limits/typed/sample_form.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/linear_algebra/symmetric_eigen.hpp"

namespace onset::smi {
namespace {

/// Variances below this are those of what is known exactly.
constexpr double no_variance = 1e-13;

/// Columns whose products make up a positive semidefinite matrix, without those that vanish.
Eigen::MatrixXd present_root_of(const Eigen::MatrixXd& matrix) {
  const numerics::SymmetricEigen eigen = numerics::symmetric_eigen(matrix);
  std::vector<Eigen::Index> kept;
  for (Eigen::Index k = 0; k < matrix.rows(); ++k) {
    if (eigen.values(k) > no_variance) kept.push_back(k);
  }
  Eigen::MatrixXd root(matrix.rows(), static_cast<Eigen::Index>(kept.size()));
  for (std::size_t k = 0; k < kept.size(); ++k) {
    root.col(static_cast<Eigen::Index>(k)) =
        eigen.vectors.col(kept[k]) * std::sqrt(eigen.values(kept[k]));
  }
  return root;
}

}  // namespace

double log_evidence(const TypedMoments& moments) {
  const auto& [a, b] = moments.half;
  const double apart = a.log_z - b.log_z;
  return 0.5 * (a.log_z + b.log_z) + 0.25 * apart * apart;
}

SampleForm::SampleForm(const TypedLink& link, const KnownDirections& state)
    : open_(state.open.cols()), known_(state.known.cols()) {
  const Eigen::MatrixXd overlap = state.known * state.overlap * state.known.transpose();
  const Eigen::MatrixXd known_variance = Eigen::MatrixXd::Identity(known_, known_) - state.overlap;
  const Eigen::MatrixXd variance =
      state.open * state.open.transpose() + state.known * known_variance * state.known.transpose();
  const auto& fields = link.fields();
  const auto rows = static_cast<Eigen::Index>(fields.size());
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(rows, rows);
  centre_ = Eigen::MatrixXd::Zero(rows, 0);
  Eigen::Index normals = 0;
  for (std::size_t token = 0; token < link.tokens(); ++token) {
    std::vector<Eigen::Index> at;
    std::vector<Eigen::Index> directions;
    for (std::size_t f = 0; f < fields.size(); ++f) {
      if (!fields[f].direction || fields[f].token != token) continue;
      at.push_back(static_cast<Eigen::Index>(f));
      directions.push_back(static_cast<Eigen::Index>(*fields[f].direction));
    }
    if (at.empty()) continue;
    const auto size = static_cast<Eigen::Index>(at.size());
    Eigen::MatrixXd own(size, size);
    Eigen::MatrixXd own_overlap(size, size);
    Eigen::MatrixXd own_open(size, open_);
    Eigen::MatrixXd own_known(size, known_);
    for (Eigen::Index i = 0; i < size; ++i) {
      const Eigen::Index p = directions[static_cast<std::size_t>(i)];
      own_open.row(i) = state.open.row(p);
      own_known.row(i) = state.known.row(p);
      for (Eigen::Index j = 0; j < size; ++j) {
        const Eigen::Index q = directions[static_cast<std::size_t>(j)];
        own(i, j) = variance(p, q);
        own_overlap(i, j) = overlap(p, q);
      }
    }
    const Eigen::MatrixXd root = present_root_of(own);
    // The columns of the root are orthogonal: its pseudo-inverse, transposed.
    Eigen::MatrixXd inverse = root;
    for (Eigen::Index k = 0; k < root.cols(); ++k) inverse.col(k) /= root.col(k).squaredNorm();
    tokens_.push_back(
        {normals, root.cols(), own_open.transpose() * inverse, own_known.transpose() * inverse});
    const Eigen::MatrixXd centre = present_root_of(own_overlap);
    const Eigen::Index before = centre_.cols();
    centre_.conservativeResize(Eigen::NoChange, before + centre.cols());
    centre_.rightCols(centre.cols()).setZero();
    for (Eigen::Index i = 0; i < size; ++i) {
      const Eigen::Index row = at[static_cast<std::size_t>(i)];
      matrix.block(row, normals, 1, root.cols()) = root.row(i);
      centre_.block(row, before, 1, centre.cols()) = centre.row(i);
    }
    normals += root.cols();
  }
  for (std::size_t f = 0; f < fields.size(); ++f) {
    if (!fields[f].direction) matrix(static_cast<Eigen::Index>(f), normals++) = 1.0;
  }
  matrix_ = matrix.leftCols(normals);
}

bool SampleForm::labels_are_discrete(const TypedLink& link) const {
  if (link.is_discrete()) return true;
  const NormalForm form{FieldVector::Zero(matrix_.rows()), matrix_};
  const std::vector<std::size_t> smooth = link.fields_with_slope();
  return std::all_of(smooth.begin(), smooth.end(), [&](std::size_t f) {
    const FieldVector slope = FieldVector::Unit(matrix_.rows(), static_cast<Eigen::Index>(f));
    return form.is_flat(slope.data());
  });
}

std::size_t SampleForm::field_normals() const {
  return tokens_.empty() ? 0 : static_cast<std::size_t>(tokens_.back().first + tokens_.back().size);
}

Eigen::MatrixXd SampleForm::over_directions(const Eigen::MatrixXd& over_normals) const {
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(open_, open_);
  for (const Token& token : tokens_) {
    sum += token.open * over_normals.block(token.first, token.first, token.size, token.size) *
           token.open.transpose();
  }
  return sum;
}

TypedAverages SampleForm::zero() const {
  const auto n = static_cast<Eigen::Index>(normals());
  TypedAverages out;
  out.pull = Eigen::MatrixXd::Zero(open_, open_);
  out.growth = Eigen::MatrixXd::Zero(open_ * open_, open_ * open_);
  out.precision = Eigen::MatrixXd::Zero(known_, known_);
  out.defect = Eigen::MatrixXd::Zero(n, n);
  return out;
}

void SampleForm::add(const TypedMoments& moments, double weight, TypedAverages& to) const {
  const auto& [a, b] = moments.half;
  const auto n = static_cast<Eigen::Index>(normals());
  const FieldMatrix identity = FieldMatrix::Identity(n, n);
  to.mass += weight;
  // Half of the relative difference has the variance of one half; both halves are biased by it.
  const double difference = std::tanh(0.5 * (a.log_z - b.log_z));
  to.ratio_bias += 2.0 * weight * difference * difference;
  to.log_evidence += weight * log_evidence(moments);
  to.defect += weight * (0.5 * (a.second + b.second) - identity);
  for (const Token& s : tokens_) {
    const Eigen::VectorXd mean_a = s.open * a.mean.segment(s.first, s.size);
    const Eigen::VectorXd mean_b = s.open * b.mean.segment(s.first, s.size);
    const Eigen::MatrixXd pull = mean_a * mean_b.transpose();
    to.pull += 0.5 * weight * (pull + pull.transpose());
    const Eigen::VectorXd known_a = s.known * a.mean.segment(s.first, s.size);
    const Eigen::VectorXd known_b = s.known * b.mean.segment(s.first, s.size);
    const Eigen::MatrixXd precision = known_a * known_b.transpose();
    to.precision += 0.5 * weight * (precision + precision.transpose());
    for (const Token& t : tokens_) {
      const auto block = [&](const TypedMoments::Half& half) -> Eigen::MatrixXd {
        return s.open * (half.second - identity).block(s.first, t.first, s.size, t.size) *
               t.open.transpose();
      };
      const Eigen::MatrixXd first = block(a);
      const Eigen::MatrixXd second = block(b);
      for (Eigen::Index p = 0; p < open_; ++p) {
        for (Eigen::Index q = 0; q < open_; ++q) {
          to.growth.block(p * open_, q * open_, open_, open_) +=
              0.5 * weight * (first(p, q) * second + second(p, q) * first);
        }
      }
    }
  }
}

}  // namespace onset::smi
