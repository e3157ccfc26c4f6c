#include "onset/ssi/model/encodings.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "onset/core/error.hpp"

namespace onset::ssi {
namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void require_rows(const std::vector<Vector>& rows) {
  for (const Vector& row : rows) {
    if (row.empty() || row.size() != rows.front().size()) {
      throw InvalidArgument("encodings", "has rows of " + std::to_string(rows.front().size()) +
                                             " and of " + std::to_string(row.size()) +
                                             " numbers; allowed: rows of one length");
    }
    for (const double x : row) {
      if (!std::isfinite(x)) {
        throw InvalidArgument("encodings", "has an entry that is no number; allowed: numbers");
      }
    }
  }
}

/// The part of a vector that no direction of the basis has, taken off twice against rounding.
Vector across(Vector x, const std::vector<Vector>& basis) {
  for (int pass = 0; pass < 2; ++pass) {
    for (const Vector& b : basis) {
      const double part = dot(x, b);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] -= part * b[i];
    }
  }
  return x;
}

}  // namespace

bool Encodings::see_teacher() const {
  return std::any_of(teacher.begin(), teacher.end(), [](double x) { return x != 0.0; });
}

Encodings opposite_encodings(std::size_t tokens) {
  Encodings encodings{Vector(tokens, 0.0), {Vector(tokens)}};
  for (std::size_t i = 0; i < tokens; ++i) encodings.own[0][i] = i % 2 == 0 ? 1.0 : -1.0;
  return encodings;
}

Encodings reduced_encodings(const std::vector<Vector>& rows) {
  require_rows(rows);
  constexpr double rounding = 1e-12;
  double largest = 0.0;
  std::vector<Vector> parts;
  Encodings encodings;
  for (const Vector& row : rows) {
    encodings.teacher.push_back(row.front());
    parts.emplace_back(row.begin() + 1, row.end());
    largest = std::max(largest, std::sqrt(dot(parts.back(), parts.back())));
  }
  std::vector<Vector> basis;
  for (const Vector& part : parts) {
    Vector rest = across(part, basis);
    const double length = std::sqrt(dot(rest, rest));
    if (!(length > rounding * largest)) continue;
    for (double& x : rest) x /= length;
    basis.push_back(std::move(rest));
  }
  for (const Vector& b : basis) {
    Vector components;
    for (const Vector& part : parts) components.push_back(dot(part, b));
    encodings.own.push_back(std::move(components));
  }
  return encodings;
}

}  // namespace onset::ssi
