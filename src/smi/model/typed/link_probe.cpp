#include "smi/model/typed/link_probe.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "numerics/random/stream.hpp"

namespace onset::smi {
namespace {

/// Standard deviations of the points, by turns.
constexpr double spreads[] = {1.0, 2.0};
constexpr std::size_t points_of_symmetries = 256;
constexpr std::size_t lines_along_a_field = 4;
constexpr std::size_t lines_anywhere = 16;
/// Two values are the same up to this part of their size.
constexpr double same_up_to = 1e-11;

}  // namespace

std::vector<double> probe_fields(std::size_t fields, std::size_t count, std::string_view purpose) {
  std::vector<double> out(fields * count);
  numerics::Stream(1, purpose).normal(out);
  for (std::size_t f = 0; f < fields; ++f) {
    for (std::size_t i = 0; i < count; ++i) out[f * count + i] *= spreads[i % std::size(spreads)];
  }
  return out;
}

bool is_typical_probe(std::size_t point) {
  return spreads[point % std::size(spreads)] == 1.0;
}

std::vector<FieldLine> probe_lines(std::size_t fields, std::size_t random,
                                   std::string_view purpose) {
  numerics::Stream stream(1, purpose);
  std::vector<FieldLine> out(fields * lines_along_a_field + random);
  for (std::size_t k = 0; k < out.size(); ++k) {
    FieldLine& line = out[k];
    line.origin.resize(fields);
    line.direction.assign(fields, 0.0);
    stream.normal(line.origin);
    if (k < fields * lines_along_a_field) {
      line.direction[k % fields] = 1.0;
      line.origin[k % fields] = 0.0;
      continue;
    }
    stream.normal(line.direction);
    double squared = 0.0;
    for (const double d : line.direction) squared += d * d;
    for (double& d : line.direction) d /= std::sqrt(squared);
  }
  return out;
}

LinkProbe::LinkProbe(const TypedLink& link) : link_(&link) {
  const std::size_t rows = link.fields().size();
  std::vector<std::vector<double>> fields(rows);
  const auto add = [&](const std::vector<double>& points) {
    const std::size_t count = points.size() / rows;
    for (std::size_t f = 0; f < rows; ++f) {
      const auto first = points.begin() + static_cast<std::ptrdiff_t>(f * count);
      fields[f].insert(fields[f].end(), first, first + static_cast<std::ptrdiff_t>(count));
    }
  };
  add(probe_fields(rows, points_of_symmetries, "symmetries"));
  for (const FieldLine& line : probe_lines(rows, lines_anywhere, "lines of symmetries")) {
    add(line.fields(middles(line_cuts(link, line, probe_reach, 1.0))));
  }
  count_ = fields.front().size();
  for (const std::vector<double>& one : fields) at_.insert(at_.end(), one.begin(), one.end());

  values_.resize(link.outputs() * count_);
  std::vector<double> slopes(link.outputs() * rows * count_);
  link.gradient(count_, at_.data(), values_.data(), slopes.data());
  sizes_.resize(values_.size());
  for (std::size_t k = 0; k < link.outputs(); ++k) {
    for (std::size_t i = 0; i < count_; ++i) {
      double sum = 0.0;
      for (std::size_t f = 0; f < rows; ++f) {
        sum += std::abs(slopes[(k * rows + f) * count_ + i] * at_[f * count_ + i]);
      }
      const double size = std::max(1.0, std::abs(values_[k * count_ + i]));
      sizes_[k * count_ + i] = std::isfinite(sum) ? std::max(size, sum) : size;
    }
  }
}

std::vector<double> LinkProbe::after(const Eigen::MatrixXd& map) const {
  const std::size_t rows = link_->fields().size();
  std::vector<double> mapped(at_.size(), 0.0);
  for (std::size_t f = 0; f < rows; ++f) {
    for (std::size_t g = 0; g < rows; ++g) {
      const double factor = map(static_cast<Eigen::Index>(f), static_cast<Eigen::Index>(g));
      if (factor == 0.0) continue;
      for (std::size_t i = 0; i < count_; ++i) {
        mapped[f * count_ + i] += factor * at_[g * count_ + i];
      }
    }
  }
  std::vector<double> out(values_.size());
  link_->values(count_, mapped.data(), out.data());
  return out;
}

bool LinkProbe::agrees(std::size_t from, const std::vector<double>& after, std::size_t to,
                       double sign, double constant) const {
  for (std::size_t i = 0; i < count_; ++i) {
    const double before = values_[from * count_ + i];
    const double now = after[to * count_ + i];
    // Far out a link may be infinite; then it must be so on both sides.
    if (!std::isfinite(before) && !std::isfinite(now)) continue;
    const double size = std::max(sizes_[from * count_ + i], std::abs(constant));
    if (!(std::abs(sign * before + constant - now) <= same_up_to * size)) return false;
  }
  return true;
}

bool LinkProbe::agrees_up_to_shift(std::size_t from, const std::vector<double>& after,
                                   std::size_t to, double sign) const {
  for (std::size_t i = 0; i < count_; ++i) {
    const double before = values_[from * count_ + i];
    const double now = after[to * count_ + i];
    if (std::isfinite(before) && std::isfinite(now)) {
      return agrees(from, after, to, sign, now - sign * before);
    }
  }
  return false;
}

}  // namespace onset::smi
