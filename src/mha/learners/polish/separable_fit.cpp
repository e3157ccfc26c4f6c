#include "mha/learners/polish/separable_fit.hpp"

#include <algorithm>
#include <cmath>

#include "mha/linear_algebra/dense.hpp"
#include "numerics/linear_algebra/dense.hpp"
#include "numerics/linear_algebra/matrix_equations.hpp"
#include "numerics/parallel.hpp"

namespace onset::mha {
namespace {

constexpr std::size_t rows_per_feature = 24;
constexpr std::size_t min_rows = 400;
constexpr double first_damping = 1e-3;
constexpr double relax = 6.0;
constexpr double tighten = 5.0;
constexpr double max_damping = 1e10;

Matrix transpose_product(const Matrix& a, const Matrix& b, const Context& context) {
  Matrix out(a.cols(), b.cols());
  numerics::transpose_multiply(view(a), view(b), {out.data(), static_cast<std::size_t>(out.size())},
                               context);
  return out;
}

/// a^T a, its upper triangle; the rest is zero.
Matrix square_of(const Matrix& a, const Context& context) {
  Matrix out = Matrix::Zero(a.cols(), a.cols());
  numerics::square(view(a), {out.data(), static_cast<std::size_t>(out.size())}, context);
  return out;
}

}  // namespace

std::size_t fit_examples(const Subset& sample, int heads) {
  const std::size_t rows =
      std::max(rows_per_feature * static_cast<std::size_t>(heads) * sample.dim(), min_rows);
  return (rows + sample.tokens() - 1) / sample.tokens();
}

SeparableFit::SeparableFit(const Subset& sample, const Hull* hull, const Context& context)
    : sample_(sample),
      hull_(hull),
      context_(context),
      x_(tokens_of(sample, 0, sample.size())),
      y_(labels_of(sample, 0, sample.size())) {
  if (hull_ == nullptr) return;
  const Index dim = x_.cols();
  along_ = Matrix(x_.rows(), hull_->directions.rows() * dim);
  for (Index j = 0; j < hull_->directions.rows(); ++j) {
    const Eigen::Map<const Matrix> direction(hull_->directions.row(j).data(), dim, dim);
    along_.middleCols(j * dim, dim) = x_ * direction;
  }
}

void SeparableFit::move_to(const std::vector<Vector>& thetas) {
  thetas_ = thetas;
  const Index dim = x_.cols();
  const auto heads = static_cast<Index>(thetas.size());
  const auto tokens = static_cast<Index>(sample_.tokens());
  std::vector<HeadFeatures> features(thetas.size());
  numerics::parallel_for(context_, thetas.size(),
                         [&](std::size_t i) { features[i] = head_features(sample_, thetas[i]); });
  Eigen::MatrixXd z(x_.rows(), heads * dim);
  for (Index i = 0; i < heads; ++i) {
    z.middleCols(i * dim, dim) = features[static_cast<std::size_t>(i)].mixed;
  }
  const numerics::HouseholderFactors factors(z);
  basis_ = factors.basis();
  w_ = factors.solve(y_);
  left_ = y_ - z * w_;
  residual_ = left_.norm() / y_.norm();
  if (!std::isfinite(residual_)) residual_ = std::numeric_limits<double>::infinity();
  sensitivity_.assign(thetas.size(), {});
  numerics::parallel_for(context_, thetas.size(), [&](std::size_t i) {
    const auto own = w_.middleRows(static_cast<Index>(i) * dim, dim);
    const Matrix outputs = x_ * own;
    Matrix& out = sensitivity_[i];
    out.resize(x_.rows(), dim * dim);
    for (Index row = 0; row < x_.rows(); ++row) {
      const Index first = row - row % tokens;
      Eigen::Map<Matrix> entry(out.row(row).data(), dim, dim);
      const Vector p = features[i].attention.row(row);
      const Vector mean = features[i].mixed.row(row);
      entry.noalias() = x_.middleRows(first, tokens).transpose() * p.asDiagonal() *
                        outputs.middleRows(first, tokens);
      entry.noalias() -= mean * (mean.transpose() * own);
    }
  });
}

Matrix SeparableFit::output_jacobian(Index output) const {
  const Index dim = x_.cols();
  const Index directions = hull_ != nullptr ? hull_->directions.rows() : 0;
  const Index own = hull_ != nullptr ? directions : dim * dim;
  Matrix jacobian(x_.rows(), own * static_cast<Index>(thetas_.size()));
  for (std::size_t i = 0; i < thetas_.size(); ++i) {
    for (Index row = 0; row < x_.rows(); ++row) {
      double* out = jacobian.row(row).data() + static_cast<Index>(i) * own;
      const double* entry = sensitivity_[i].row(row).data() + output;
      if (hull_ != nullptr) {
        for (Index j = 0; j < directions; ++j) {
          out[j] = 0.0;
          for (Index c = 0; c < dim; ++c) out[j] += along_(row, j * dim + c) * entry[c * dim];
        }
        continue;
      }
      for (Index c = 0; c < dim; ++c) {
        for (Index c2 = 0; c2 < dim; ++c2) out[c * dim + c2] = x_(row, c) * entry[c2 * dim];
      }
    }
  }
  return jacobian;
}

SeparableFit::NormalEquations SeparableFit::normal_equations() const {
  Context alone;  // each task has one output, and its products run on its own thread
  alone.stop = context_.stop;
  std::vector<NormalEquations> parts(static_cast<std::size_t>(x_.cols()));
  numerics::parallel_for(context_, parts.size(), [&](std::size_t output) {
    const Matrix jacobian = output_jacobian(static_cast<Index>(output));
    const Matrix inside = transpose_product(basis_, jacobian, alone);
    Matrix taken = square_of(inside, alone);
    if (hull_ != nullptr) taken -= square_of(jacobian, alone);
    parts[output] = {std::move(taken),
                     jacobian.transpose() * left_.col(static_cast<Index>(output))};
  });
  NormalEquations total{
      hull_ != nullptr ? Matrix(Matrix::Zero(unknowns(), unknowns())) : free_square(),
      Vector::Zero(unknowns())};
  for (const NormalEquations& part : parts) {
    total.matrix -= part.matrix;
    total.right += part.right;
  }
  total.matrix.triangularView<Eigen::StrictlyLower>() =
      total.matrix.transpose().triangularView<Eigen::StrictlyLower>();
  return total;
}

Matrix SeparableFit::free_square() const {
  const Index dim = x_.cols();
  const Index rows = x_.rows();
  const Index pairs = dim * (dim + 1) / 2;
  Matrix queries(rows, pairs);
  for (Index row = 0; row < rows; ++row) {
    for (Index c = 0, at = 0; c < dim; ++c) {
      for (Index e = c; e < dim; ++e) queries(row, at++) = x_(row, c) * x_(row, e);
    }
  }
  const auto heads = static_cast<Index>(thetas_.size());
  Matrix out(unknowns(), unknowns());
  for (Index i = 0; i < heads; ++i) {
    for (Index j = i; j < heads; ++j) {
      Matrix keys(rows, dim * dim);
      for (Index row = 0; row < rows; ++row) {
        const Eigen::Map<const Matrix> left(
            sensitivity_[static_cast<std::size_t>(i)].row(row).data(), dim, dim);
        const Eigen::Map<const Matrix> right(
            sensitivity_[static_cast<std::size_t>(j)].row(row).data(), dim, dim);
        Eigen::Map<Matrix>(keys.row(row).data(), dim, dim).noalias() = left * right.transpose();
      }
      const Matrix sums = transpose_product(queries, keys, context_);
      for (Index c = 0, at = 0; c < dim; ++c) {
        for (Index e = c; e < dim; ++e, ++at) {
          const Eigen::Map<const Matrix> block(sums.row(at).data(), dim, dim);
          out.block((i * dim + c) * dim, (j * dim + e) * dim, dim, dim) = block;
          out.block((i * dim + e) * dim, (j * dim + c) * dim, dim, dim) = block;
        }
      }
    }
  }
  return out;
}

std::vector<Vector> SeparableFit::stepped(std::vector<Vector> out, const Vector& step) const {
  const Index own = step.size() / static_cast<Index>(out.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Vector part = step.segment(static_cast<Index>(i) * own, own);
    out[i] += hull_ != nullptr ? Vector(hull_->directions.transpose() * part) : part;
  }
  return out;
}

FitOutcome fit_layer(const Subset& sample, const std::vector<Vector>& start, const Hull* hull,
                     const FitOptions& options, const Context& context) {
  SeparableFit fit(sample, hull, context);
  fit.move_to(start);
  FitOutcome out{fit.layer(), fit.residual(), 0, 1};
  double damping = first_damping;
  while (out.steps < options.max_steps && out.residual > options.target) {
    const SeparableFit::NormalEquations normal = fit.normal_equations();
    ++out.steps;
    const Vector scale =
        normal.matrix.diagonal().cwiseMax(1e-12 * normal.matrix.diagonal().maxCoeff());
    const double before = out.residual;
    bool better = false;
    const std::vector<Vector> here = thetas_of(out.layer);
    while (!better && damping < max_damping) {
      context.check();
      Matrix damped = normal.matrix;
      damped.diagonal() += damping * scale;
      const Vector step = numerics::solve_symmetric(damped, normal.right);
      fit.move_to(fit.stepped(here, step));
      ++out.evaluations;
      better = fit.residual() < before;
      damping = better ? std::max(damping / relax, 1e-15) : damping * tighten;
    }
    if (!better) break;
    out.layer = fit.layer();
    out.residual = fit.residual();
    if (before - out.residual < options.progress * before) break;
  }
  return out;
}

}  // namespace onset::mha
