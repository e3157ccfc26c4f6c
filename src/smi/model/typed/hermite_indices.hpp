#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "smi/model/typed/typed_link.hpp"

namespace onset::smi {

/// The largest degree of Hermite polynomials that is offered.
inline constexpr int max_hermite_degree = 8;

/// The products h_j(x) = prod_f He_{j_f}(x_f) / sqrt(j_f!) of a few variables, by their
/// multi-indices j, degree after degree [links 30]. They are orthonormal under standard normals.
class HermiteIndices {
 public:
  using MultiIndex = std::array<int, max_typed_fields>;

  HermiteIndices(std::size_t variables, int max_degree);

  [[nodiscard]] std::size_t variables() const { return variables_; }
  [[nodiscard]] int max_degree() const { return static_cast<int>(first_.size()) - 2; }
  /// Degree 0 included.
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  /// The multi-indices of a degree are first(degree), .., first(degree + 1) - 1.
  [[nodiscard]] std::size_t first(int degree) const {
    return first_[static_cast<std::size_t>(degree)];
  }
  [[nodiscard]] const MultiIndex& operator[](std::size_t i) const { return all_[i]; }
  /// Where a multi-index is.
  [[nodiscard]] std::size_t at(const MultiIndex& index) const { return place_.at(index); }

  /// All products at a point.
  void values(const double* x, std::span<double> out) const;
  /// All products, of which those of one variable are given: degree by degree, they replace h_j of
  /// that variable (integrals over a part of its axis).
  void values_with(const double* x, std::size_t variable, std::span<const double> replaced,
                   std::span<double> out) const;

  /// Expectations of the products of x from those of u with x = rotation u; rotation row by row.
  void rotate(std::span<const double> rotation, std::span<double> moments) const;

 private:
  using Table = std::array<std::array<double, max_hermite_degree + 1>, max_typed_fields>;
  void fill(const double* x, Table& table) const;
  void multiply(const Table& table, std::span<double> out) const;

  std::size_t variables_;
  std::vector<MultiIndex> all_;
  std::vector<std::size_t> first_;
  std::map<MultiIndex, std::size_t> place_;
  /// Every product is an earlier one times h of one more variable.
  struct Step {
    std::size_t before;
    std::size_t variable;
    std::size_t degree;
  };
  std::vector<Step> steps_;
};

/// h_0(x), .., h_degree(x) = He_k(x) / sqrt(k!).
void normalised_hermite(double x, int degree, double* out);

/// The square root of the product of the factorials of a multi-index.
[[nodiscard]] double root_of_factorials(const HermiteIndices::MultiIndex& index);

/// Unnormalised Hermite moments of a label: integrals over its level set, or the region of an atom.
struct LevelHermite {
  std::vector<double> moments;  ///< in the order of the indices; the first one is z
  std::size_t roots = 0;
  [[nodiscard]] double z() const { return moments.front(); }

  LevelHermite& operator+=(const LevelHermite& other);
  LevelHermite& operator-=(const LevelHermite& other);
  LevelHermite& operator*=(double factor);
};

[[nodiscard]] inline double mass_of(const LevelHermite& moments) {
  return moments.z();
}

/// Adds a point of a level set with its weight; `scratch` has one number per index.
void add_point(const HermiteIndices& indices, double weight, const double* x,
               std::span<double> scratch, LevelHermite& to);

}  // namespace onset::smi
