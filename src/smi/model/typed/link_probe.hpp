#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <string_view>
#include <vector>

#include "smi/model/typed/line_cuts.hpp"

namespace onset::smi {

/// Where a link is tried. Further out than this many standard deviations lies a mass of 2e-9, and
/// what a label does there is beyond all errors.
inline constexpr double probe_reach = 6.0;

/// Random fields, field after field: normals of one and of two standard deviations by turns, so
/// that some lie far out.
[[nodiscard]] std::vector<double> probe_fields(std::size_t fields, std::size_t count,
                                               std::string_view purpose);
/// Whether such a point is one that samples have.
[[nodiscard]] bool is_typical_probe(std::size_t point);

/// Random lines, some along every field first; their middles lie about 0.
[[nodiscard]] std::vector<FieldLine> probe_lines(std::size_t fields, std::size_t random,
                                                 std::string_view purpose);

/// The values of a link at some hundred points, before and after linear maps of its fields. A
/// symmetry that holds at all of them is taken to be one: they lie far out as well, and on every
/// part into which switches cut some lines, so that relu(z1-4) is not taken for 0.
class LinkProbe {
 public:
  explicit LinkProbe(const TypedLink& link);

  /// The values, output after output, where field f is sum_g map(f, g) * (field g).
  [[nodiscard]] std::vector<double> after(const Eigen::MatrixXd& map) const;
  /// Whether output `to` has become sign * (output `from`) + constant everywhere, up to rounding.
  [[nodiscard]] bool agrees(std::size_t from, const std::vector<double>& after, std::size_t to,
                            double sign = 1.0, double constant = 0.0) const;
  /// The same for some constant.
  [[nodiscard]] bool agrees_up_to_shift(std::size_t from, const std::vector<double>& after,
                                        std::size_t to, double sign) const;

 private:
  const TypedLink* link_;
  std::size_t count_;
  std::vector<double> at_;      ///< fields
  std::vector<double> values_;  ///< outputs
  std::vector<double>
      sizes_;  ///< of the outputs, and of what adds up to them: rounding goes with it
};

}  // namespace onset::smi
