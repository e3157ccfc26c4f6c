#include "smi/model/posterior/sampled_posterior.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "numerics/linear_algebra/matrix_equations.hpp"
#include "numerics/simd/clones.hpp"
#include "numerics/simd/vector_math.hpp"
#include "smi/model/posterior/ratio_bias.hpp"

namespace onset::smi {
namespace {

namespace simd = numerics::simd;

/// The widths of the linearised proposal in units of its own: one that is nearly right where the
/// label is nearly linear over the posterior, and one for what curvature adds.
constexpr std::array<double, 2> widths = {1.2, 3.0};

/// Layers with a larger variance than this may sit at the mirror image of their fields; at most
/// this many layers are mirrored.
constexpr double mirrored_above = 0.1;
constexpr std::size_t max_mirrored = 3;

/// The step of a field for the slopes of the residuals. Its square and the rounding error over it
/// are both near 1e-10, and the slopes only shape a proposal.
constexpr double slope_step = 1e-5;

/// The number of linearisations when no centre is given.
constexpr int search_steps = 4;

Eigen::Index index(std::size_t i) {
  return static_cast<Eigen::Index>(i);
}

/// t += factor * (sign * zeta - shift), elementwise.
ONSET_CLONES void accumulate(double factor, double sign, double shift, const double* zeta,
                             double* t, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) t[k] += factor * (sign * zeta[k] - shift);
}

ONSET_CLONES void add_square(const double* t, double* quad, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) quad[k] += t[k] * t[k];
}

/// Sum of a[k] b[k] in four fixed lanes.
ONSET_CLONES double dot(const double* a, const double* b, std::size_t n) {
  double lane[4] = {0.0, 0.0, 0.0, 0.0};
  std::size_t k = 0;
  for (; k + 4 <= n; k += 4) {
    for (std::size_t j = 0; j < 4; ++j) lane[j] += a[k + j] * b[k + j];
  }
  for (; k < n; ++k) lane[0] += a[k] * b[k];
  return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

}  // namespace

/// One sample's question.
struct SampledPosterior::Sample {
  std::vector<double> label;
  std::vector<double> omega;
  std::vector<double> centre;           // empty if it is to be found
  std::vector<double> block_variance;   // V_b, or its mean
  std::vector<double> inner_deviation;  // the root's diagonal: sqrt V of every inner field
  // Where V is a matrix over the directions: its lower triangular root, which takes zeta to
  // z - omega, and the part of it that belongs to the last layer given the others.
  std::size_t directions = 0, tokens = 0;
  std::vector<double> root = {};
  std::vector<double> last_root = {};

  [[nodiscard]] bool uneven() const { return !root.empty(); }
  [[nodiscard]] double root_at(std::size_t p, std::size_t q) const {
    return root[p * directions + q];
  }
  /// z - omega of inner fields becomes zeta, in place, and back.
  void to_zeta(Eigen::VectorXd& x) const {
    for (std::size_t f = 0; f < inner_deviation.size(); ++f) {
      for (std::size_t q = 0; uneven() && q < f / tokens; ++q) {
        x[index(f)] -= root_at(f / tokens, q) * x[index(q * tokens + f % tokens)];
      }
      x[index(f)] /= inner_deviation[f];
    }
  }
  void from_zeta(Eigen::VectorXd& x) const {
    for (std::size_t f = inner_deviation.size(); f-- > 0;) {
      x[index(f)] *= inner_deviation[f];
      for (std::size_t q = 0; uneven() && q < f / tokens; ++q) {
        x[index(f)] += root_at(f / tokens, q) * x[index(q * tokens + f % tokens)];
      }
    }
  }
  [[nodiscard]] LastQuestion last(std::size_t inner, std::span<const double> shift) const {
    const double deviation = uneven() ? last_root.front() : 0.0;
    return {label, std::span(omega).subspan(inner),
            uneven() ? deviation * deviation : block_variance.back(), last_root, shift};
  }
};

/// The linearised proposal: precision Lambda = factor factor^T in zeta, one mean per mirror image.
struct SampledPosterior::Gaussians {
  Eigen::MatrixXd factor;                 // lower triangular
  double log_det = 0.0;                   // the logarithm of its determinant
  std::vector<std::vector<double>> sign;  // per image: +-1 per field
  std::vector<Eigen::VectorXd> mean;      // per image, mirrored back
};

/// Arrays over the nodes of both proposals, reused from sample to sample.
struct SampledPosterior::Workspace {
  Workspace(const DeepAttention& model, std::size_t inner, std::size_t lanes)
      : attention(model, std::max(lanes, 2 * inner + 1)), count(lanes) {
    normals.resize(inner * lanes);
    zeta.resize(inner * lanes);
    fields.resize(inner * std::max(lanes, 2 * inner + 1));
    moved.resize(inner * lanes);
    for (auto* a : {&log_density, &weight, &scratch, &product, &first}) a->resize(lanes);
  }

  /// What moments are wanted of, at every node: zeta, or z - omega where V is a matrix.
  [[nodiscard]] const double* inner_field(std::size_t f) const {
    return (uneven ? moved.data() : zeta.data()) + f * count;
  }
  /// The same for any field; the last layer's lie in the branch.
  [[nodiscard]] const double* field(const LastBranch& branch, std::size_t f) const {
    const std::size_t inner = zeta.size() / count;
    return f < inner ? inner_field(f) : branch.mean.data() + (f - inner) * count;
  }

  AttentionNodes attention;
  std::size_t count;                 // nodes of both proposals
  std::vector<double> normals;       // rows of count / 2
  std::vector<double> zeta, fields;  // rows of count
  bool uneven = false;               // V is a matrix
  std::vector<double> moved;         // z - omega, rows of count
  std::vector<double> shift;         // what the nodes add to the last layer's omega
  std::vector<double> log_density;   // log density of the mixture, relative to (2 pi)^{-inner/2}
  std::vector<double> weight;        // the weight of all branches together
  std::vector<double> scratch, product;
  std::vector<double> first;  // 1 in the first of two batches of nodes, else 0
  std::vector<double> terms;
  std::vector<LastBranch> branches;
};

SampledPosterior::SampledPosterior(const DeepAttention& model, const PosteriorOptions& options)
    : model_(model),
      shape_(model.shape()),
      inner_(shape_.first(shape_.blocks() - 1)),
      nodes_(static_cast<std::size_t>(options.nodes)),
      last_(last_layer(model)),
      sets_(static_cast<int>(inner_), nodes_, options.seed) {}

/// What is the same for all samples of a query.
SampledPosterior::Sample SampledPosterior::prior_of(const PosteriorQuery& query) const {
  Sample sample;
  sample.block_variance.assign(query.variance.begin(), query.variance.end());
  sample.directions = shape_.directions();
  sample.tokens = static_cast<std::size_t>(shape_.tokens);
  const std::size_t size = sample.directions;
  const std::size_t inner_directions = inner_ / sample.tokens;
  if (!query.covariance.empty()) {
    sample.root.assign(size * size, 0.0);
    for (std::size_t p = 0; p < size; ++p) {
      for (std::size_t q = 0; q <= p; ++q) {
        double x = query.covariance[p * size + q];
        for (std::size_t k = 0; k < q; ++k) x -= sample.root_at(p, k) * sample.root_at(q, k);
        sample.root[p * size + q] = p == q ? std::sqrt(x) : x / sample.root_at(q, q);
      }
    }
    for (std::size_t p = inner_directions; p < size; ++p) {
      for (std::size_t q = inner_directions; q < size; ++q) {
        sample.last_root.push_back(sample.root_at(p, q));
      }
    }
    std::size_t p = 0;
    for (std::size_t b = 0; b < shape_.blocks(); ++b) {
      const auto rank = static_cast<std::size_t>(shape_.rank[b]);
      sample.block_variance[b] = 0.0;
      for (const std::size_t end = p + rank; p < end; ++p) {
        sample.block_variance[b] += query.covariance[p * size + p] / static_cast<double>(rank);
      }
    }
  }
  for (std::size_t f = 0; f < inner_; ++f) {
    const std::size_t p = f / sample.tokens;
    sample.inner_deviation.push_back(sample.uneven() ? sample.root_at(p, p) : 0.0);
  }
  for (std::size_t b = 0; !sample.uneven() && b + 1 < shape_.blocks(); ++b) {
    std::fill_n(sample.inner_deviation.begin() + std::ptrdiff_t(shape_.first(b)), shape_.size(b),
                std::sqrt(query.variance[b]));
  }
  return sample;
}

/// Moves a field of a lane by `step`, along its zeta: where V is a matrix, later directions and the
/// last layer's omega move with it.
void SampledPosterior::move_along(const Sample& sample, std::size_t field, double step,
                                  std::size_t lane, Workspace& work) const {
  const std::size_t lanes = 2 * inner_ + 1;
  work.fields[field * lanes + lane] += step;
  if (!sample.uneven()) return;
  const std::size_t p = field / sample.tokens;
  for (std::size_t f = field + sample.tokens; f < shape_.fields(); f += sample.tokens) {
    const double part = step * sample.root_at(f / sample.tokens, p) / sample.root_at(p, p);
    if (f < inner_) {
      work.fields[f * lanes + lane] += part;
    } else {
      work.shift[(f - inner_) * lanes + lane] += part;
    }
  }
}

/// Asks the last layer at all nodes. Where V is a matrix its moments become those of z - omega.
void SampledPosterior::evaluate_last(const Sample& sample, Workspace& work) const {
  const std::size_t count = work.count;
  last_->evaluate(work.attention, count, sample.last(inner_, work.shift), work.branches);
  if (!sample.uneven()) return;
  const std::size_t tokens = sample.tokens;
  const std::size_t size = shape_.size(shape_.blocks() - 1);
  const std::size_t rank = size / tokens;
  const auto pair_row = [](std::size_t i, std::size_t j) {
    return i < j ? j * (j + 1) / 2 + i : i * (i + 1) / 2 + j;
  };
  std::vector<double> mean(size * count), second(size * (size + 1) / 2 * count);
  for (LastBranch& branch : work.branches) {
    std::fill(mean.begin(), mean.end(), 0.0);
    std::fill(second.begin(), second.end(), 0.0);
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t p = i / tokens;
      for (std::size_t q = 0; q <= p; ++q) {
        const double factor = sample.last_root[p * rank + q];
        const double* from = branch.mean.data() + (q * tokens + i % tokens) * count;
        for (std::size_t k = 0; k < count; ++k) mean[i * count + k] += factor * from[k];
      }
      for (std::size_t j = 0; j <= i; ++j) {
        double* to = second.data() + pair_row(i, j) * count;
        for (std::size_t q = 0; q <= p; ++q) {
          for (std::size_t r = 0; r <= j / tokens; ++r) {
            const double factor =
                sample.last_root[p * rank + q] * sample.last_root[j / tokens * rank + r];
            const std::size_t row = pair_row(q * tokens + i % tokens, r * tokens + j % tokens);
            const double* from = branch.second.data() + row * count;
            for (std::size_t k = 0; k < count; ++k) to[k] += factor * from[k];
          }
        }
        if (inner_ == 0) continue;
        const double* si = work.shift.data() + i * count;
        const double* sj = work.shift.data() + j * count;
        for (std::size_t k = 0; k < count; ++k) {
          to[k] += si[k] * sj[k] + si[k] * mean[j * count + k] + sj[k] * mean[i * count + k];
        }
      }
    }
    for (std::size_t f = 0; inner_ > 0 && f < mean.size(); ++f) mean[f] += work.shift[f];
    branch.mean = mean;
    branch.second = second;
  }
}

/// Linearises the label's residuals rho(zeta) ~ rho_c + P (zeta - zeta_c): the posterior is then
/// Gaussian with precision I + P^T P [smi 33].
SampledPosterior::Gaussians SampledPosterior::fit(const Sample& sample, Workspace& work) const {
  const std::size_t lanes = 2 * inner_ + 1;
  std::vector<double> centre(sample.omega.begin(), sample.omega.begin() + std::ptrdiff_t(inner_));
  if (!sample.centre.empty()) {
    std::copy_n(sample.centre.begin(), inner_, centre.begin());
  }
  const int steps = sample.centre.empty() ? search_steps : 1;
  double sign = 1.0;
  Eigen::MatrixXd slope(0, 0);
  Eigen::VectorXd residual;
  Eigen::VectorXd at(index(inner_));  // the centre as zeta
  numerics::CholeskyFactors precision;
  for (int step = 0; step < steps; ++step) {
    for (std::size_t f = 0; f < inner_; ++f) {
      std::fill_n(work.fields.data() + f * lanes, lanes, centre[f]);
      at[index(f)] = centre[f] - sample.omega[f];
    }
    sample.to_zeta(at);
    if (sample.uneven()) {
      const std::size_t size = shape_.size(shape_.blocks() - 1);
      work.shift.assign(size * lanes, 0.0);
      for (std::size_t f = 0; f < size; ++f) {
        double x = 0.0;
        for (std::size_t g = f % sample.tokens; g < inner_; g += sample.tokens) {
          x += sample.root_at((inner_ + f) / sample.tokens, g / sample.tokens) * at[index(g)];
        }
        std::fill_n(work.shift.data() + f * lanes, lanes, x);
      }
    }
    for (std::size_t f = 0; f < inner_; ++f) {
      move_along(sample, f, slope_step, 1 + 2 * f, work);
      move_along(sample, f, -slope_step, 2 + 2 * f, work);
    }
    work.attention.push(work.fields.data(), lanes);
    const LastQuestion question = sample.last(inner_, work.shift);
    Eigen::MatrixXd rho = last_->residuals(work.attention, lanes, question, sign);
    if (step == 0 && sample.centre.empty()) {
      const Eigen::MatrixXd other = last_->residuals(work.attention, lanes, question, -1.0);
      if (other.col(0).squaredNorm() < rho.col(0).squaredNorm()) {
        sign = -1.0;
        rho = other;
      }
    }
    slope.resize(rho.rows(), index(inner_));
    for (std::size_t f = 0; f < inner_; ++f) {
      slope.col(index(f)) = (rho.col(index(1 + 2 * f)) - rho.col(index(2 + 2 * f))) *
                            (sample.inner_deviation[f] / (2.0 * slope_step));
    }
    residual = rho.col(0);
    Eigen::MatrixXd lambda = slope.transpose() * slope;
    lambda.diagonal().array() += 1.0;
    precision = numerics::CholeskyFactors(lambda);
    if (step + 1 < steps) {
      Eigen::VectorXd next = precision.solve(slope.transpose() * (slope * at - residual));
      sample.from_zeta(next);
      for (std::size_t f = 0; f < inner_; ++f) centre[f] = sample.omega[f] + next[index(f)];
    }
  }

  Gaussians out;
  out.factor = precision.lower();
  out.log_det = out.factor.diagonal().array().log().sum();
  std::vector<std::size_t> mirrored;
  for (std::size_t b = 0; b + 1 < shape_.blocks() && mirrored.size() < max_mirrored; ++b) {
    if (sample.block_variance[b] > mirrored_above) mirrored.push_back(b);
  }
  for (std::size_t image = 0; image < std::size_t{1} << mirrored.size(); ++image) {
    std::vector<double> flips(inner_, 1.0);
    for (std::size_t k = 0; k < mirrored.size(); ++k) {
      if ((image >> k & 1) == 0) continue;
      const std::size_t first = shape_.first(mirrored[k]);
      std::fill_n(flips.begin() + std::ptrdiff_t(first), shape_.size(mirrored[k]), -1.0);
    }
    // Mirroring fields is the same as mirroring omega and mirroring the result back.
    Eigen::VectorXd from(index(inner_));
    for (std::size_t f = 0; f < inner_; ++f) {
      from[index(f)] = centre[f] - flips[f] * sample.omega[f];
    }
    sample.to_zeta(from);
    out.mean.push_back(precision.solve(slope.transpose() * (slope * from - residual)));
    out.sign.push_back(std::move(flips));
  }
  return out;
}

/// Draws the first half of the nodes from the prior, the second from the Gaussians.
void SampledPosterior::place_nodes(const Sample& sample, const Gaussians& gaussians,
                                   Workspace& work) const {
  const std::size_t count = work.count;
  const std::size_t half = nodes_ / 2;
  const std::size_t images = gaussians.mean.size();
  const std::size_t kinds = widths.size() * images;
  Eigen::VectorXd eta(index(inner_));
  for (std::size_t f = 0; f < inner_; ++f) {
    std::copy_n(work.normals.data() + f * nodes_, nodes_, work.zeta.data() + f * count);
  }
  const auto factor = gaussians.factor.transpose().triangularView<Eigen::Upper>();
  for (std::size_t k = 0; k < half; ++k) {
    for (std::size_t f = 0; f < inner_; ++f) eta[index(f)] = work.normals[f * nodes_ + k];
    // Each kind takes a run of neighbours, not every second node: a power of two of them is well
    // spread by itself.
    const std::size_t kind = k * kinds / half;
    const bool first = (half < 2 * kinds ? k : 2 * k * kinds / half) % 2 == 0;
    work.first[nodes_ + k] = work.first[nodes_ + half + k] = first ? 1.0 : 0.0;
    work.first[k] = work.first[half + k] = 2 * k < half ? 1.0 : 0.0;
    const double width = widths[kind / images];
    const Eigen::VectorXd step = width * factor.solve(eta);
    // An image and the opposite one make a pair of reflections where nothing is learned yet, as the
    // nodes of the prior do: odd moments then vanish exactly.
    const std::size_t image = kind % images;
    const std::size_t opposite = images - 1 - image;
    for (std::size_t f = 0; f < inner_; ++f) {
      double* row = work.zeta.data() + f * count + nodes_;
      row[k] = gaussians.sign[image][f] * (gaussians.mean[image][index(f)] + step[index(f)]);
      row[half + k] =
          gaussians.sign[opposite][f] * (gaussians.mean[opposite][index(f)] + step[index(f)]);
    }
  }
  if (sample.uneven()) {
    place_uneven(sample, work);
    return;
  }
  for (std::size_t f = 0; f < inner_; ++f) {
    const double* z = work.zeta.data() + f * count;
    double* field = work.fields.data() + f * count;
    for (std::size_t k = 0; k < count; ++k) {
      field[k] = sample.omega[f] + sample.inner_deviation[f] * z[k];
    }
  }
}

/// The fields of nodes where V is a matrix, and what they add to the last layer's omega.
void SampledPosterior::place_uneven(const Sample& sample, Workspace& work) const {
  const std::size_t count = work.count;
  work.shift.assign(shape_.size(shape_.blocks() - 1) * count, 0.0);
  std::fill(work.moved.begin(), work.moved.end(), 0.0);
  for (std::size_t f = 0; f < shape_.fields(); ++f) {
    double* to =
        f < inner_ ? work.moved.data() + f * count : work.shift.data() + (f - inner_) * count;
    for (std::size_t g = f % sample.tokens; g <= f && g < inner_; g += sample.tokens) {
      const double factor = sample.root_at(f / sample.tokens, g / sample.tokens);
      const double* z = work.zeta.data() + g * count;
      for (std::size_t k = 0; k < count; ++k) to[k] += factor * z[k];
    }
    for (std::size_t k = 0; f < inner_ && k < count; ++k) {
      work.fields[f * count + k] = sample.omega[f] + to[k];
    }
  }
}

/// Computes the logarithm of the balance heuristic's mixture at every node.
void SampledPosterior::log_densities(const Gaussians& gaussians, Workspace& work) const {
  const std::size_t count = work.count;
  const std::size_t images = gaussians.mean.size();
  const std::size_t kinds = 1 + widths.size() * images;
  work.terms.assign(kinds * count, 0.0);
  double* prior = work.terms.data();
  for (std::size_t f = 0; f < inner_; ++f) add_square(work.zeta.data() + f * count, prior, count);
  for (std::size_t k = 0; k < count; ++k) prior[k] = -0.5 * prior[k] - std::numbers::ln2;
  for (std::size_t image = 0; image < images; ++image) {
    double* first = work.terms.data() + (1 + image * widths.size()) * count;
    for (std::size_t r = 0; r < inner_; ++r) {
      std::fill(work.scratch.begin(), work.scratch.end(), 0.0);
      for (std::size_t f = r; f < inner_; ++f) {
        accumulate(gaussians.factor(index(f), index(r)), gaussians.sign[image][f],
                   gaussians.mean[image][index(f)], work.zeta.data() + f * count,
                   work.scratch.data(), count);
      }
      add_square(work.scratch.data(), first, count);
    }
    const double share =
        gaussians.log_det - std::log(2.0 * static_cast<double>(widths.size() * images));
    for (std::size_t w = widths.size(); w-- > 0;) {
      double* term = first + w * count;
      const double scale = -0.5 / (widths[w] * widths[w]);
      const double offset = share - static_cast<double>(inner_) * std::log(widths[w]);
      for (std::size_t k = 0; k < count; ++k) term[k] = offset + scale * first[k];
    }
  }
  for (std::size_t k = 0; k < count; ++k) {
    double top = prior[k];
    for (std::size_t t = 1; t < kinds; ++t) top = std::max(top, work.terms[t * count + k]);
    work.log_density[k] = top;
    for (std::size_t t = 0; t < kinds; ++t) work.terms[t * count + k] -= top;
  }
  simd::exp(work.terms, work.terms);
  for (std::size_t t = 1; t < kinds; ++t) {
    for (std::size_t k = 0; k < count; ++k) prior[k] += work.terms[t * count + k];
  }
  const auto sum = std::span(work.terms).first(count);
  simd::log(sum, sum);
  for (std::size_t k = 0; k < count; ++k) work.log_density[k] += sum[k];
}

/// Stores the sums over tokens of <zeta zeta> for directions in different blocks; likelihoods are
/// weights here.
void SampledPosterior::store_cross(std::size_t i, double total, Workspace& work,
                                   PosteriorMoments& out, PosteriorMoments::Half& half) const {
  const std::size_t count = work.count;
  const auto tokens = static_cast<std::size_t>(shape_.tokens);
  for (std::size_t block = 1; block < shape_.blocks(); ++block) {
    const std::size_t first = shape_.first(block) / tokens;
    const auto rank = static_cast<std::size_t>(shape_.rank[block]);
    for (std::size_t p = first; p < first + rank; ++p) {
      for (std::size_t q = 0; q < first; ++q) {
        double sum = 0.0;
        for (LastBranch& branch : work.branches) {
          for (std::size_t t = 0; t < tokens; ++t) {
            const double* a = work.field(branch, p * tokens + t);
            for (std::size_t k = 0; k < count; ++k) {
              work.product[k] = branch.log_likelihood[k] * a[k];
            }
            sum += dot(work.product.data(), work.field(branch, q * tokens + t), count);
          }
        }
        half.cross[FieldShape::direction_pair(p, q) * out.count + i] = sum / total;
      }
    }
  }
}

/// Weights the branches at all nodes and stores the sample's moments.
void SampledPosterior::store(std::size_t i, Workspace& work, PosteriorMoments& out,
                             PosteriorMoments::Half& half) const {
  const std::size_t count = work.count;
  double top = -HUGE_VAL;
  for (LastBranch& branch : work.branches) {
    for (std::size_t f = 0; f < inner_; ++f) {
      const double* z = work.zeta.data() + f * count;
      for (std::size_t k = 0; k < count; ++k) branch.log_likelihood[k] -= 0.5 * z[k] * z[k];
    }
    for (std::size_t k = 0; k < count; ++k) {
      branch.log_likelihood[k] -= work.log_density[k];
      top = std::max(top, branch.log_likelihood[k]);
    }
  }
  std::fill(work.weight.begin(), work.weight.end(), 0.0);
  for (LastBranch& branch : work.branches) {
    for (double& x : branch.log_likelihood) x -= top;
    simd::exp(branch.log_likelihood, branch.log_likelihood);
    for (std::size_t k = 0; k < count; ++k) work.weight[k] += branch.log_likelihood[k];
  }
  const std::vector<double> ones(count, 1.0);
  const double total = dot(work.weight.data(), ones.data(), count);
  const double share = dot(work.weight.data(), work.first.data(), count) / total;
  const std::size_t last = shape_.blocks() - 1;
  const double constants =
      -0.5 * static_cast<double>(shape_.size(last)) * std::log(2.0 * std::numbers::pi);
  half.log_z[i] = top + std::log(total / static_cast<double>(count)) + constants;

  for (std::size_t b = 0; b < last; ++b) {
    std::size_t pair = shape_.first_pair(b);
    for (std::size_t p = 0; p < shape_.size(b); ++p) {
      const double* zp = work.inner_field(shape_.first(b) + p);
      for (std::size_t k = 0; k < count; ++k) work.product[k] = work.weight[k] * zp[k];
      for (std::size_t k = 0; k < count; ++k) work.scratch[k] = work.product[k] * work.first[k];
      const std::size_t at = (shape_.first(b) + p) * out.count + i;
      half.mean[at] = dot(work.product.data(), ones.data(), count) / total;
      half.mean_bias[at] =
          ratio_bias(share, dot(work.scratch.data(), ones.data(), count) / total, half.mean[at]);
      for (std::size_t q = 0; q <= p; ++q, ++pair) {
        const double* zq = work.inner_field(shape_.first(b) + q);
        const std::size_t to = pair * out.count + i;
        half.second[to] = dot(work.product.data(), zq, count) / total;
        half.second_bias[to] =
            ratio_bias(share, dot(work.scratch.data(), zq, count) / total, half.second[to]);
      }
    }
  }
  const auto expectation = [&](std::size_t row, const std::vector<double> LastBranch::*moments,
                               double& value, double& bias) {
    double sum = 0.0;
    double part = 0.0;
    for (const LastBranch& branch : work.branches) {
      const double* of_nodes = (branch.*moments).data() + row * count;
      for (std::size_t k = 0; k < count; ++k) {
        work.scratch[k] = branch.log_likelihood[k] * work.first[k];
      }
      sum += dot(branch.log_likelihood.data(), of_nodes, count);
      part += dot(work.scratch.data(), of_nodes, count);
    }
    value = sum / total;
    bias = ratio_bias(share, part / total, value);
  };
  for (std::size_t p = 0; p < shape_.size(last); ++p) {
    const std::size_t at = (inner_ + p) * out.count + i;
    expectation(p, &LastBranch::mean, half.mean[at], half.mean_bias[at]);
  }
  for (std::size_t pair = 0; pair < shape_.pairs(last); ++pair) {
    const std::size_t at = (shape_.first_pair(last) + pair) * out.count + i;
    expectation(pair, &LastBranch::second, half.second[at], half.second_bias[at]);
  }
  if (!half.cross.empty()) store_cross(i, total, work, out, half);
}

void SampledPosterior::moments(const PosteriorQuery& query, PosteriorMoments& out) const {
  const std::size_t count = query.count;
  const std::size_t lanes = inner_ == 0 ? 1 : 2 * nodes_;
  Workspace work(model_, inner_, lanes);
  Sample sample = prior_of(query);
  work.uneven = sample.uneven();
  sample.label.resize(shape_.size(shape_.blocks() - 1));
  sample.omega.resize(shape_.fields());
  sample.centre.resize(query.centre.empty() ? 0 : shape_.fields());
  const auto gather = [&](std::span<const double> rows, std::size_t i, std::vector<double>& into) {
    for (std::size_t row = 0; row < into.size(); ++row) into[row] = rows[row * count + i];
  };
  for (std::size_t i = 0; i < count; ++i) {
    gather(query.label, i, sample.label);
    gather(query.omega, i, sample.omega);
    gather(query.centre, i, sample.centre);
    if (inner_ == 0) {
      work.attention.push(nullptr, 1);
      work.log_density[0] = 0.0;
      work.first[0] = 1.0;
      evaluate_last(sample, work);
      store(i, work, out, out.half[0]);
      continue;
    }
    const Gaussians gaussians = fit(sample, work);
    for (std::uint64_t e = 0; e < 2; ++e) {
      sets_.draw(query.replicate, query.first_sample + i, e, work.normals.data());
      place_nodes(sample, gaussians, work);
      log_densities(gaussians, work);
      work.attention.push(work.fields.data(), lanes);
      evaluate_last(sample, work);
      store(i, work, out, out.half[e]);
    }
  }
  if (inner_ == 0) out.half[1] = out.half[0];
}

}  // namespace onset::smi
