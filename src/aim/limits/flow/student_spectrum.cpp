#include "aim/limits/flow/student_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "aim/limits/flow/path.hpp"
#include "numerics/parallel.hpp"

namespace onset::aim {
namespace {

/// Eigenvalues that no width can move from 0.
double atom_of(const FlowModel& model) {
  const bool narrow = model.student == Student::tied && model.start == StudentStart::gaussian;
  return narrow ? std::max(0.0, 1.0 - model.width_ratio) : 0.0;
}

double smoothed_density(const Dynamics& dynamics, const numerics::OdeState& state, double atom,
                        std::complex<double> z) {
  return -(dynamics.resolvent(state, z) - atom / z).imag() / std::numbers::pi;
}

/// The teacher's law at this many nodes per smoothing is good to 1e-6 and better.
std::size_t nodes_for(double smoothing, double per_width) {
  return static_cast<std::size_t>(per_width / smoothing);
}

}  // namespace

std::vector<StudentSpectrum> student_spectra(const FlowModel& model,
                                             const std::vector<double>& times,
                                             const SpectrumOptions& options,
                                             const Context& context) {
  constexpr double fine_nodes = 14.0;
  constexpr double coarse_nodes = 10.0;
  constexpr double margin = 1.05;
  const double last = times.back();
  const FlowSolver fine(model, Precision::fine, last, 1, nodes_for(options.smoothing, fine_nodes));
  const FlowSolver coarse(model, Precision::coarse, last, 1,
                          nodes_for(options.smoothing, coarse_nodes));
  const auto fine_states = fine.states(times, context);
  const auto coarse_states = coarse.states(times, context);
  const double atom = atom_of(model);
  std::vector<StudentSpectrum> out;
  for (std::size_t i = 0; i < std::min(fine_states.size(), coarse_states.size()); ++i) {
    StudentSpectrum spectrum{times[i], atom, {}, {}};
    const double low = margin * fine.dynamics().bottom(fine_states[i]);
    const double high = margin * fine.dynamics().top(fine_states[i]) + 2.0 * options.smoothing;
    const auto count = static_cast<std::size_t>(options.points);
    spectrum.density.resize(count);
    for (std::size_t k = 0; k < count; ++k) {
      const double share = static_cast<double>(k) / static_cast<double>(count - 1);
      spectrum.x.push_back(low + share * (high - low));
    }
    numerics::parallel_for(context, count, [&](std::size_t k) {
      const std::complex<double> z(spectrum.x[k], options.smoothing);
      const double a = smoothed_density(fine.dynamics(), fine_states[i], atom, z);
      const double b = smoothed_density(coarse.dynamics(), coarse_states[i], atom, z);
      spectrum.density[k] = {a, std::abs(a - b) + 1e-15 * std::abs(a)};
    });
    out.push_back(std::move(spectrum));
  }
  return out;
}

}  // namespace onset::aim
