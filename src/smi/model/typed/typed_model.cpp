#include "smi/model/typed/typed_model.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "numerics/linear_algebra/matrix_equations.hpp"
#include "numerics/random/stream.hpp"
#include "smi/model/typed/symmetries.hpp"
#include "smi/model/typed/typed_posterior.hpp"

namespace onset::smi {
namespace {

/// The nodes of PosteriorOptions at which lines have their default spacing.
constexpr double default_nodes = 128.0;
constexpr double infinity = std::numeric_limits<double>::infinity();
/// Random points that count the equations of a label.
constexpr std::size_t counting_points = 4096;

/// How the fields of one token follow from the normals of those that the link reads:
/// z - omega = slope xi + a rest that the label says nothing of [links 9].
struct TokenPrior {
  Eigen::Index first = 0;  ///< its normals
  Eigen::MatrixXd slope;   ///< directions x normals of the token
  Eigen::MatrixXd rest;    ///< the covariance of the rest
};

class TypedModelPosterior final : public Posterior {
 public:
  TypedModelPosterior(std::shared_ptr<const TypedLink> link, FieldShape shape,
                      std::vector<TypedLabel> atoms, const PosteriorOptions& options)
      : link_(std::move(link)), shape_(std::move(shape)), atoms_(std::move(atoms)) {
    const std::size_t n = link_->fields().size();
    nodes_.seed = options.seed;
    nodes_.spacing = default_spacing(n);
    if (n > 1) {
      nodes_.spacing *= std::pow(default_nodes / options.nodes, 1.0 / static_cast<double>(n - 1));
    }
  }

  void moments(const PosteriorQuery& query, PosteriorMoments& out) const override {
    std::vector<TokenPrior> tokens;
    NormalForm form;
    form.matrix = prior(query, tokens);
    const auto& fields = link_->fields();
    const auto per_direction = static_cast<std::size_t>(shape_.tokens);
    form.origin.setZero(static_cast<Eigen::Index>(fields.size()));
    for (std::size_t i = 0; i < query.count; ++i) {
      for (std::size_t f = 0; f < fields.size(); ++f) {
        if (!fields[f].direction) continue;
        const std::size_t row = *fields[f].direction * per_direction + fields[f].token;
        form.origin(static_cast<Eigen::Index>(f)) = query.omega[row * query.count + i];
      }
      TypedNodes nodes = nodes_;
      nodes.replicate = query.replicate;
      nodes.sample = query.first_sample + i;
      TypedLabel label;
      for (std::size_t k = 0; k < link_->outputs(); ++k) {
        label.value[k] = query.label[k * query.count + i];
      }
      const TypedMoments found = posterior_of_data(*link_, atoms_, form, label, nodes);
      for (std::size_t h = 0; h < 2; ++h) write(query, tokens, found, h, i, out);
      if (found.found) write_biases(i, out);
    }
  }
  [[nodiscard]] bool exact() const override { return false; }
  [[nodiscard]] bool between_blocks() const override { return true; }
  [[nodiscard]] bool any_covariance() const override { return true; }

 private:
  /// V over all directions.
  [[nodiscard]] Eigen::MatrixXd covariance(const PosteriorQuery& query) const {
    const auto size = static_cast<Eigen::Index>(shape_.directions());
    Eigen::MatrixXd v = Eigen::MatrixXd::Zero(size, size);
    for (Eigen::Index p = 0; p < size; ++p) {
      for (Eigen::Index q = 0; q < size; ++q) {
        const auto at = static_cast<std::size_t>(p * size + q);
        if (!query.covariance.empty()) {
          v(p, q) = query.covariance[at];
        } else if (p == q) {
          v(p, p) = query.variance[static_cast<std::size_t>(p)];
        }
      }
    }
    return v;
  }

  /// A of the fields that the link reads, and how the others follow.
  [[nodiscard]] FieldMatrix prior(const PosteriorQuery& query,
                                  std::vector<TokenPrior>& tokens) const {
    const Eigen::MatrixXd v = covariance(query);
    const auto& fields = link_->fields();
    const auto rows = static_cast<Eigen::Index>(fields.size());
    FieldMatrix matrix = FieldMatrix::Zero(rows, rows);
    Eigen::Index normals = 0;
    for (std::size_t t = 0; t < static_cast<std::size_t>(shape_.tokens); ++t) {
      std::vector<Eigen::Index> at;
      std::vector<Eigen::Index> directions;
      for (std::size_t f = 0; f < fields.size(); ++f) {
        if (!fields[f].direction || fields[f].token != t) continue;
        at.push_back(static_cast<Eigen::Index>(f));
        directions.push_back(static_cast<Eigen::Index>(*fields[f].direction));
      }
      const auto size = static_cast<Eigen::Index>(at.size());
      TokenPrior token{normals, Eigen::MatrixXd(v.rows(), size), v};
      if (size > 0) {
        const Eigen::MatrixXd own = v(directions, directions);
        // Units of the diagonal keep digits where variances differ by many orders of magnitude.
        const Eigen::VectorXd units = own.diagonal().cwiseSqrt();
        const Eigen::MatrixXd scaled =
            units.cwiseInverse().asDiagonal() * own * units.cwiseInverse().asDiagonal();
        const Eigen::MatrixXd lower = numerics::cholesky_factor(scaled);
        const Eigen::MatrixXd root = units.asDiagonal() * lower;
        const Eigen::MatrixXd across =
            units.cwiseInverse().asDiagonal() * v(directions, Eigen::indexing::all);
        token.slope = lower.triangularView<Eigen::Lower>().solve(across).transpose();
        token.rest -= token.slope * token.slope.transpose();
        for (Eigen::Index k = 0; k < size; ++k) {
          matrix.block(at[static_cast<std::size_t>(k)], normals, 1, size) = root.row(k);
        }
      }
      normals += size;
      tokens.push_back(std::move(token));
    }
    for (Eigen::Index f = 0; f < rows; ++f) {
      if (!fields[static_cast<std::size_t>(f)].direction) matrix(f, normals++) = 1.0;
    }
    return matrix;
  }

  /// Writes what one half says of sample i, in units of the roots of the variances.
  void write(const PosteriorQuery& query, const std::vector<TokenPrior>& tokens,
             const TypedMoments& found, std::size_t h, std::size_t i, PosteriorMoments& out) const {
    const TypedMoments::Half& from = found.half[h];
    PosteriorMoments::Half& to = out.half[h];
    const std::size_t count = query.count;
    to.log_z[i] = found.found ? from.log_z : -infinity;
    if (!found.found) return;
    const std::size_t size = shape_.directions();
    const auto unit = [&](std::size_t p) { return 1.0 / std::sqrt(query.variance[p]); };
    if (!to.cross.empty()) {
      for (std::size_t k = i; k < to.cross.size(); k += count) to.cross[k] = 0.0;
    }
    for (std::size_t s = 0; s < tokens.size(); ++s) {
      const Eigen::Index own = tokens[s].slope.cols();
      const Eigen::VectorXd mean = tokens[s].slope * from.mean.segment(tokens[s].first, own);
      for (std::size_t p = 0; p < size; ++p) {
        to.mean[(p * tokens.size() + s) * count + i] = unit(p) * mean(static_cast<Eigen::Index>(p));
      }
      for (std::size_t t = 0; t <= s; ++t) {
        Eigen::MatrixXd second =
            tokens[s].slope *
            from.second.block(tokens[s].first, tokens[t].first, own, tokens[t].slope.cols()) *
            tokens[t].slope.transpose();
        if (s == t) second += tokens[s].rest;
        for (std::size_t p = 0; p < size; ++p) {
          const auto row = static_cast<Eigen::Index>(p);
          const std::size_t pair = shape_.first_pair(p) + s * (s + 1) / 2 + t;
          to.second[pair * count + i] = unit(p) * unit(p) * second(row, row);
          if (s != t || to.cross.empty()) continue;
          for (std::size_t q = 0; q < p; ++q) {
            to.cross[FieldShape::direction_pair(p, q) * count + i] +=
                unit(p) * unit(q) * second(row, static_cast<Eigen::Index>(q));
          }
        }
      }
    }
  }

  /// Moments are ratios of sums over lines. Of sums over the lines of both halves the ratio has
  /// half of the bias of one half: twice what the mean of the halves exceeds it by is the bias of
  /// each.
  static void write_biases(std::size_t i, PosteriorMoments& out) {
    auto& [first, second] = out.half;
    const double apart = std::tanh(0.5 * (first.log_z[i] - second.log_z[i]));
    const auto write_one = [&](std::vector<double> PosteriorMoments::Half::*values,
                               std::vector<double> PosteriorMoments::Half::*biases) {
      for (std::size_t k = i; k < (first.*values).size(); k += out.count) {
        const double bias = ((second.*values)[k] - (first.*values)[k]) * apart;
        (first.*biases)[k] = (second.*biases)[k] = bias;
      }
    };
    write_one(&PosteriorMoments::Half::mean, &PosteriorMoments::Half::mean_bias);
    write_one(&PosteriorMoments::Half::second, &PosteriorMoments::Half::second_bias);
  }

  std::shared_ptr<const TypedLink> link_;
  FieldShape shape_;
  std::vector<TypedLabel> atoms_;
  TypedNodes nodes_;
};

class TypedModel final : public SequenceModel {
 public:
  TypedModel(std::shared_ptr<const TypedLink> link, std::size_t tokens)
      : link_(std::move(link)),
        shape_{static_cast<int>(tokens), std::vector<int>(link_->directions(), 1)} {
    for (const TypedField& field : link_->fields()) noise_ += field.direction ? 0 : 1;
    atoms_ = typed_atoms(*link_);
    count_equations();
    for (const Eigen::MatrixXd& map : signed_symmetries(*link_, LabelUnder::same)) {
      std::vector<double> rows;
      for (Eigen::Index p = 0; p < map.rows(); ++p) {
        for (Eigen::Index q = 0; q < map.cols(); ++q) rows.push_back(map(p, q));
      }
      symmetries_.push_back(std::move(rows));
    }
  }

  [[nodiscard]] const FieldShape& shape() const override { return shape_; }
  [[nodiscard]] int label_size() const override { return static_cast<int>(link_->outputs()); }
  [[nodiscard]] int noise_size() const override { return noise_; }
  [[nodiscard]] double constraints() const override { return constraints_; }
  void label(std::span<const double> fields, std::span<const double> noise,
             std::span<double> label) const override {
    values(fields, noise, label);
  }
  [[nodiscard]] int prediction_size() const override { return label_size(); }
  void prediction(std::span<const double> fields, std::span<double> out) const override {
    const std::vector<double> none(static_cast<std::size_t>(noise_), 0.0);
    values(fields, none, out);
  }
  [[nodiscard]] std::unique_ptr<Posterior> posterior(
      const PosteriorOptions& options) const override {
    return std::make_unique<TypedModelPosterior>(link_, shape_, atoms_, options);
  }
  [[nodiscard]] double posterior_seconds(double nodes) const override {
    return typed_posterior_seconds(*link_, link_->fields().size()) * nodes / default_nodes;
  }
  [[nodiscard]] const std::vector<std::vector<double>>& symmetries() const override {
    return symmetries_;
  }

 private:
  void values(std::span<const double> fields, std::span<const double> noise,
              std::span<double> out) const {
    const auto tokens = static_cast<std::size_t>(shape_.tokens);
    double inputs[max_typed_fields];
    std::size_t next_noise = 0;
    for (std::size_t f = 0; f < link_->fields().size(); ++f) {
      const TypedField& field = link_->fields()[f];
      inputs[f] =
          field.direction ? fields[*field.direction * tokens + field.token] : noise[next_noise++];
    }
    link_->values(1, inputs, out.data());
  }

  /// The numbers that a label fixes: its independent outputs, less those that noise changes.
  void count_equations() {
    const std::size_t rows = link_->fields().size();
    const std::size_t outputs = link_->outputs();
    std::vector<double> inputs(rows * counting_points);
    numerics::Stream(1, "equations of a label").normal(inputs);
    std::vector<double> values(outputs * counting_points);
    std::vector<double> slopes(outputs * rows * counting_points);
    link_->gradient(counting_points, inputs.data(), values.data(), slopes.data());
    const auto n = static_cast<Eigen::Index>(rows);
    NormalForm all{FieldVector::Zero(n), FieldMatrix::Identity(n, n)};
    NormalForm noise = all;
    for (std::size_t f = 0; f < rows; ++f) {
      const auto at = static_cast<Eigen::Index>(f);
      if (link_->fields()[f].direction) noise.matrix(at, at) = 0.0;
    }
    std::vector<double> one(outputs * rows);
    int fixed = 0;
    for (std::size_t i = 0; i < counting_points; ++i) {
      for (std::size_t f = 0; f < one.size(); ++f) one[f] = slopes[f * counting_points + i];
      fixed += std::popcount(all.independent_outputs(one.data(), outputs)) -
               std::popcount(noise.independent_outputs(one.data(), outputs));
    }
    constraints_ = static_cast<double>(fixed) / static_cast<double>(counting_points);
  }

  std::shared_ptr<const TypedLink> link_;
  FieldShape shape_;
  int noise_ = 0;
  std::vector<TypedLabel> atoms_;
  double constraints_ = 0.0;
  std::vector<std::vector<double>> symmetries_;
};

}  // namespace

std::unique_ptr<SequenceModel> typed_model(std::shared_ptr<const TypedLink> link,
                                           std::size_t tokens) {
  return std::make_unique<TypedModel>(std::move(link), tokens);
}

}  // namespace onset::smi
