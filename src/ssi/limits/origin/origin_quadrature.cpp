#include <cmath>

#include "onset/core/error.hpp"
#include "ssi/limits/origin/origin_methods.hpp"
#include "ssi/limits/spectrum/link_projection.hpp"
#include "ssi/limits/spectrum/token_parts.hpp"

namespace onset::ssi {
namespace {

using numerics::HermiteSeries;

/// E |f|^2 as a function of the shift has the Hermite coefficients of |f|^2.
numerics::BatchFunction squared_norm(const Link& link) {
  return {link.tokens(), 1, [&link](std::size_t count, const double* x, double* out) {
            std::vector<double> f(link.outputs() * count);
            link.values(count, x, f.data());
            for (std::size_t p = 0; p < count; ++p) out[p] = 0.0;
            for (std::size_t k = 0; k < link.outputs(); ++k) {
              for (std::size_t p = 0; p < count; ++p) out[p] += f[k * count + p] * f[k * count + p];
            }
          }};
}

double product(const HermiteCoefficients& g, const HermiteSeries& f, std::size_t s) {
  double total = 0.0;
  f.for_each(s, [&](std::size_t place, std::span<const std::size_t> k) {
    const auto found = g.values.find(std::vector<std::size_t>(k.begin(), k.end()));
    if (found == g.values.end()) return;
    for (std::size_t o = 0; o < g.outputs; ++o) total += found->second[o] * f.at(o, place);
  });
  return total;
}

/// Hermite series of the student and of its square, by one rule.
struct StudentSeries {
  HermiteSeries f;
  HermiteSeries square;
};

/// Adds what l derivatives along the teacher's components tau of the encodings give to a row of the
/// expansion, from the power m^l on. [ssi 43]
void add_moved(const HermiteCoefficients& target, const StudentSeries& student, std::size_t l,
               double factorial, std::vector<double>& row) {
  for (std::size_t s = l; s < row.size(); ++s) {
    row[s] -= product(target, student.f, s - l) / factorial;
  }
  row[l] += 0.5 * student.square.at(0, 0) / factorial;
}

StudentSeries derivative(const StudentSeries& student, const std::vector<double>& shifts) {
  return {student.f.derivative(shifts), student.square.derivative(shifts)};
}

/// taylor[j][s]: -c_s^(j)(0)/j!, and F^(j)(0)/(2 j!) for s = 0; encodings that see the teacher move
/// fields by m as well. [ssi 12, 43]
std::vector<std::vector<double>> taylor_by(const SequenceModel& model,
                                           const HermiteCoefficients& target, StudentSeries student,
                                           std::size_t degree) {
  const auto shifts = model.shifts();
  const auto teacher = model.teacher_shifts();
  std::vector<std::vector<double>> taylor;
  double factorial = 1.0;
  for (std::size_t j = 0; j <= (model.positional ? degree : 0); ++j) {
    if (j > 0) {
      factorial *= static_cast<double>(j);
      student = derivative(student, shifts);
    }
    std::vector<double> row(degree + 1 - j);
    add_moved(target, student, 0, factorial, row);
    StudentSeries moved = student;
    double both = factorial;
    for (std::size_t l = 1; l < row.size() && model.encodings_see_teacher(); ++l) {
      both *= static_cast<double>(l);
      moved = derivative(moved, teacher);
      add_moved(target, moved, l, both, row);
    }
    taylor.push_back(std::move(row));
  }
  return taylor;
}

/// Finer and coarser series of the student; kinks and jumps of up to two tokens cost nothing.
std::pair<StudentSeries, StudentSeries> student_series(const Link& link, std::size_t degree,
                                                       const Context& context) {
  TokenPart square;
  for (std::size_t i = 0; i < link.tokens(); ++i) square.tokens.push_back(i);
  square.function = squared_norm(link);
  square.switches = {link.tokens(), 0, {}};
  if (const auto* expression = link.expression()) {
    square.switches = {link.tokens(), expression->switches(),
                       [expression](std::size_t count, const double* x, double* out) {
                         expression->switch_values(count, x, out);
                       }};
  }
  const auto fine = numerics::normal_trapezoid(0.22, 9.5);
  const auto coarse = numerics::normal_trapezoid(0.3, 9.0);
  const auto exact = project_exactly(square, degree, context);
  const auto by = [&](const numerics::Rule& rule) {
    return numerics::hermite_series(square.function, rule, degree).series;
  };
  return {{project_link(link, {fine, degree, true}, context).series,
           exact ? exact->fine.series : by(fine)},
          {project_link(link, {coarse, degree, false}, context).series,
           exact ? exact->coarse.series : by(coarse)}};
}

}  // namespace

OriginExpansion quadrature_origin(const SequenceModel& model, const Spectrum& spectrum,
                                  const Context& context) {
  const std::size_t degree = spectrum.degrees.size() - 1;
  auto [by_fine, by_coarse] = student_series(*model.student.link, degree, context);
  std::vector<Estimate> visible(degree + 1);
  for (std::size_t s = 1; s <= degree; ++s) {
    const double seen = product(spectrum.coefficients, by_fine.f, s);
    visible[s] = {seen, std::abs(seen - product(spectrum.coarse, by_coarse.f, s))};
  }
  const auto fine = taylor_by(model, spectrum.coefficients, std::move(by_fine), degree);
  const auto coarse = taylor_by(model, spectrum.coarse, std::move(by_coarse), degree);
  OriginExpansion origin = blank_origin(degree, model.positional);
  for (std::size_t j = 0; j < fine.size(); ++j) {
    for (std::size_t s = 0; s < fine[j].size(); ++s) {
      if (!std::isfinite(fine[j][s])) {
        throw Refused("the student has no finite second moment under Gaussian fields");
      }
      origin.taylor[j][s] = {fine[j][s], std::abs(fine[j][s] - coarse[j][s])};
    }
  }
  origin.taylor[0][0] = {};
  origin.visible = std::move(visible);
  return origin;
}

}  // namespace onset::ssi
