#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "aim/model/data.hpp"
#include "onset/core/context.hpp"

namespace onset::aim {

/// The products of message passing (see TokenProducts) in single precision, at a quarter of the
/// work of general ones in double precision: both use that a matrix is symmetric. The tokens are
/// kept a second time, in 4 n T d bytes. Sums of thousands of numbers err by some 1e-6 of their
/// size.
class SingleProducts {
 public:
  SingleProducts(const Dataset& data, const Context& context);

  void pair_products(std::span<const double> matrix, std::span<double> out) const;
  void weighted_products(std::span<const double> weights, std::span<double> out) const;
  void eigenvalues(std::span<const double> matrix, std::span<double> values);
  void with_eigenvalues(std::span<const double> values, std::span<double> out) const;

 private:
  const Context& context_;
  std::size_t samples_;
  std::size_t tokens_;
  std::size_t dim_;
  std::size_t pairs_;
  std::vector<float> inputs_;   ///< n x T x d
  std::vector<float> vectors_;  ///< the eigenvectors, as rows
};

}  // namespace onset::aim
