#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <tuple>

#include "numerics/quadrature/chebyshev.hpp"
#include "numerics/quadrature/gaussian_expectation.hpp"
#include "ssi/limits/phase/universal.hpp"
#include "ssi/model/attention_matrix.hpp"

namespace onset::ssi {
namespace {

constexpr std::size_t sampled_points = 4096;
/// Polynomials of degree 2 half_degree in e and m together, through rings x spokes nodes of the
/// quarter disk: about twice as many as coefficients.
constexpr std::size_t half_degree = 10;
constexpr std::size_t node_rings = 12;
constexpr std::size_t node_spokes = 12;
/// Chebyshev points of e > 0 for functions of e alone.
constexpr std::size_t line_nodes = 14;

struct PhaseNode {
  double e;
  double m;
};

std::vector<PhaseNode> disk_nodes() {
  std::vector<PhaseNode> nodes;
  for (std::size_t i = 0; i < node_rings; ++i) {
    // Chebyshev points of (-1, 1) in the radius, of which the negative ones are mirror images; the
    // outermost is put on the rim, where the minima are.
    const auto n = static_cast<double>(2 * node_rings - 1);
    const double r = std::cos(std::numbers::pi * static_cast<double>(i) / n);
    for (std::size_t k = 0; k < node_spokes; ++k) {
      const double theta =
          0.5 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(node_spokes - 1);
      nodes.push_back({r * std::cos(theta), r * std::sin(theta)});
    }
  }
  return nodes;
}

std::vector<double> positive_nodes() {
  const std::vector<double> all = numerics::chebyshev_points(2 * line_nodes);
  return {all.begin() + line_nodes, all.end()};
}

/// The products T_2a(e) T_2b(m), a + b <= half_degree, with derivatives.
std::vector<Jet> even_basis(double e, double m) {
  constexpr std::size_t count = 2 * half_degree + 1;
  const auto in_e = numerics::chebyshev_basis(e, count);
  const auto in_m = numerics::chebyshev_basis(m, count);
  std::vector<Jet> out;
  for (std::size_t a = 0; a < count; a += 2) {
    for (std::size_t b = 0; a + b < count; b += 2) {
      out.push_back({in_e.value[a] * in_m.value[b], in_e.slope[a] * in_m.value[b],
                     in_e.value[a] * in_m.slope[b], in_e.curvature[a] * in_m.value[b],
                     in_e.slope[a] * in_m.slope[b], in_e.value[a] * in_m.curvature[b]});
    }
  }
  return out;
}

/// An even function of e by its coefficients of T_0, T_2, ..
Jet along_line(const std::vector<double>& coefficients, double e) {
  const auto basis = numerics::chebyshev_basis(e, coefficients.size());
  Jet x;
  for (std::size_t j = 0; j < coefficients.size(); j += 2) {
    x.value += coefficients[j] * basis.value[j];
    x.e += coefficients[j] * basis.slope[j];
    x.ee += coefficients[j] * basis.curvature[j];
  }
  return x;
}

/// The coefficients of the even function that has these values at the positive nodes.
std::vector<double> even_coefficients(std::span<const double> values) {
  std::vector<double> mirrored(values.rbegin(), values.rend());
  mirrored.insert(mirrored.end(), values.begin(), values.end());
  return numerics::chebyshev_coefficients(mirrored);
}

struct UniversalCoefficients {
  std::vector<double> cross;  ///< of even_basis()
  std::vector<double> square;
  std::vector<double> plus;
  std::vector<double> minus;
};

class PolynomialUniversal final : public Universal {
 public:
  PolynomialUniversal(std::size_t tokens, UniversalCoefficients coefficients)
      : tokens_(tokens), coefficients_(std::move(coefficients)) {}
  [[nodiscard]] std::size_t tokens() const override { return tokens_; }
  [[nodiscard]] Jet square(double e) const override { return along_line(coefficients_.square, e); }
  [[nodiscard]] Jet own_attention(bool plus, double e) const override {
    return along_line(plus ? coefficients_.plus : coefficients_.minus, e);
  }
  [[nodiscard]] Jet cross(double e, double m) const override {
    const std::vector<Jet> basis = even_basis(e, m);
    Jet x;
    for (std::size_t k = 0; k < basis.size(); ++k) {
      const double c = coefficients_.cross[k];
      x.value += c * basis[k].value;
      x.e += c * basis[k].e;
      x.m += c * basis[k].m;
      x.ee += c * basis[k].ee;
      x.em += c * basis[k].em;
      x.mm += c * basis[k].mm;
    }
    return x;
  }

 private:
  std::size_t tokens_;
  UniversalCoefficients coefficients_;
};

/// What is averaged: J at the nodes of the disk, then F and both own attentions at those of the
/// line.
class UniversalIntegrand {
 public:
  explicit UniversalIntegrand(std::size_t tokens)
      : tokens_(tokens), disk_(disk_nodes()), line_(positive_nodes()) {}

  [[nodiscard]] std::size_t outputs() const { return disk_.size() + 3 * line_.size(); }

  /// With both signs of zeta, which halves what is odd in it.
  void operator()(const numerics::NormalBatch& batch, std::span<double> out) const {
    const std::size_t size = tokens_ * tokens_ * batch.count;
    std::vector<double> target(size);
    std::vector<double> f(size);
    attention_matrix(tokens_, batch.count, batch.normals.data(), target.data());
    std::fill(out.begin(), out.end(), 0.0);
    for (const double sign : {1.0, -1.0}) {
      for (std::size_t k = 0; k < disk_.size(); ++k) {
        student(batch, disk_[k], sign, f);
        double* own = out.data() + k * batch.count;
        for (std::size_t x = 0; x < size; ++x) own[x % batch.count] += 0.5 * target[x] * f[x];
      }
      for (std::size_t k = 0; k < line_.size(); ++k) {
        student(batch, {line_[k], 0.0}, sign, f);
        add_line(batch.count, f, out.data() + (disk_.size() + 3 * k) * batch.count);
      }
    }
  }

 private:
  void student(const numerics::NormalBatch& batch, PhaseNode node, double sign,
               std::vector<double>& f) const {
    const double* teacher = batch.normals.data();
    const double* zeta = teacher + tokens_ * batch.count;
    const double q = sign * std::sqrt(std::max(0.0, 1.0 - node.m * node.m));
    std::vector<double> z(tokens_ * batch.count);
    for (std::size_t i = 0; i < tokens_; ++i) {
      const double shift = i % 2 == 0 ? node.e : -node.e;
      for (std::size_t p = i * batch.count; p < (i + 1) * batch.count; ++p) {
        z[p] = node.m * teacher[p] + q * zeta[p] + shift;
      }
    }
    attention_matrix(tokens_, batch.count, z.data(), f.data());
  }

  void add_line(std::size_t count, const std::vector<double>& f, double* out) const {
    for (std::size_t i = 0; i < tokens_; ++i) {
      for (std::size_t j = 0; j < tokens_; ++j) {
        const double* entry = f.data() + (i * tokens_ + j) * count;
        double* own = (i + j) % 2 == 0 ? out + (1 + i % 2) * count : nullptr;
        for (std::size_t p = 0; p < count; ++p) {
          out[p] += 0.5 * entry[p] * entry[p];
          if (own != nullptr) own[p] += 0.5 * entry[p];
        }
      }
    }
  }

  std::size_t tokens_;
  std::vector<PhaseNode> disk_;
  std::vector<double> line_;
};

using Numbers = std::vector<double>;

double product_of(const Numbers& a, const Numbers& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void take_off(double factor, const Numbers& from, Numbers& to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] -= factor * from[i];
}

/// Least squares from values at the nodes to coefficients, by orthonormal combinations of the basis
/// (Gram and Schmidt, twice against rounding); one decomposition serves all replicates.
class DiskFit {
 public:
  DiskFit() {
    const std::vector<PhaseNode> nodes = disk_nodes();
    const std::size_t count = even_basis(0.0, 0.0).size();
    std::vector<Numbers> columns(count, Numbers(nodes.size()));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto basis = even_basis(nodes[i].e, nodes[i].m);
      for (std::size_t k = 0; k < count; ++k) columns[k][i] = basis[k].value;
    }
    for (std::size_t k = 0; k < count; ++k) {
      Combination own{columns[k], Numbers(count, 0.0)};
      own.coefficients[k] = 1.0;
      for (int pass = 0; pass < 2; ++pass) {
        for (const Combination& other : orthonormal_) {
          const double part = product_of(other.values, own.values);
          take_off(part, other.values, own.values);
          take_off(part, other.coefficients, own.coefficients);
        }
      }
      const double length = std::sqrt(product_of(own.values, own.values));
      for (double& x : own.values) x /= length;
      for (double& x : own.coefficients) x /= length;
      orthonormal_.push_back(std::move(own));
    }
  }

  /// The coefficients, and the most by which the fit misses a value.
  [[nodiscard]] std::pair<Numbers, double> operator()(Numbers values) const {
    Numbers out(orthonormal_.size(), 0.0);
    for (const Combination& own : orthonormal_) {
      const double part = product_of(own.values, values);
      take_off(-part, own.coefficients, out);
      take_off(part, own.values, values);
    }
    double misfit = 0.0;
    for (const double left : values) misfit = std::max(misfit, std::abs(left));
    return {std::move(out), misfit};
  }

 private:
  struct Combination {
    Numbers values;        ///< at the nodes
    Numbers coefficients;  ///< of the basis
  };
  std::vector<Combination> orthonormal_;
};

}  // namespace

SampledUniversal sampled_universal(std::size_t tokens, std::uint64_t seed, const Context& context) {
  const UniversalIntegrand integrand(tokens);
  numerics::ExpectationOptions options;
  options.dimensions = static_cast<int>(2 * tokens);
  options.outputs = static_cast<int>(integrand.outputs());
  options.points = sampled_points;
  options.seed = seed;
  const auto averages = numerics::gaussian_expectation(options, integrand, context);
  const std::size_t nodes = disk_nodes().size();
  const DiskFit fit;
  const auto polynomial = [&](const auto& value_of, double& misfit) {
    Numbers disk(nodes);
    for (std::size_t k = 0; k < nodes; ++k) disk[k] = value_of(averages[k]);
    std::array<Numbers, 3> lines;
    for (std::size_t k = 0; k < line_nodes; ++k) {
      for (std::size_t row = 0; row < 3; ++row) {
        lines[row].push_back(value_of(averages[nodes + 3 * k + row]));
      }
    }
    UniversalCoefficients coefficients;
    std::tie(coefficients.cross, misfit) = fit(std::move(disk));
    coefficients.square = even_coefficients(lines[0]);
    coefficients.plus = even_coefficients(lines[1]);
    coefficients.minus = even_coefficients(lines[2]);
    return std::make_shared<const PolynomialUniversal>(tokens, std::move(coefficients));
  };
  SampledUniversal out;
  for (std::size_t r = 0; r < static_cast<std::size_t>(options.replicates); ++r) {
    double ignored = 0.0;
    out.replicates.push_back(
        polynomial([r](const numerics::Replicates& x) { return x[r]; }, ignored));
  }
  out.mean =
      polynomial([](const numerics::Replicates& x) { return numerics::mean(x); }, out.misfit);
  return out;
}

double sampled_universal_seconds(std::size_t tokens) {
  const double samples = 2.0 * numerics::default_replicates * static_cast<double>(sampled_points);
  const auto places = static_cast<double>(node_rings * node_spokes + line_nodes);
  // Measured: attention is in the cache here, and the sums over entries take a part of it.
  constexpr double with_sums = 1.0;
  return 1e-9 * samples * places * with_sums * attention_ns(tokens);
}

}  // namespace onset::ssi
