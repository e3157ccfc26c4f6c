#pragma once

namespace onset::aim {

/// Values of A = 2 alpha D at which training with the trace penalty changes.

/// Without noise the interpolator of least trace is S0 from here on [aim 97]; 1 for rho >= 1.
[[nodiscard]] double trace_recovery(double rho);

/// The cut c of [aim 97] in units of the bulk of null directions, which large samples need as their
/// best decay: 2 c sqrt((1 - rho) s (A - A_rec)). rho < 1.
[[nodiscard]] double trace_recovery_cut(double rho);

/// With noise of variance s > 0 the labels can be fitted by some S >= 0 up to here [aim 96].
[[nodiscard]] double trace_interpolation(double rho, double noise);

}  // namespace onset::aim
