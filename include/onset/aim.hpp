#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "onset/aim/model/choices.hpp"
#include "onset/aim/model/students.hpp"
#include "onset/core/verb.hpp"

/// Attention-indexed models, attention of full width: what the command calls `onset aim ..`.
///
///   onset::aim::Curve{.channel = "linear", .noise = 0.1, .alpha = {0.1, 0.2}}.run(context)
///
/// A request has the command's defaults and gives its bits. `settle()` says what would be computed
/// (all effective parameters) and what it costs; `run()` computes it. Both throw InvalidArgument
/// for what the command would refuse with a message, and IoError for files that cannot be used.
///
/// Fields that describe the model, the same in every request:
///   channel          what a label shows of the scores, by name (docs/aim-channels.md)
///   tokens, rho      tokens T of a sample; width ratio r/d of the matrix W
///   beta             inverse temperature of softmax labels
///   noise            standard deviation of noise on linear labels, 0 unless given
///   noise_variance   the same as a variance s; one of the two is given, and settling fills the
///   other noise_kind       whether it is s (1 + delta_ab) or s on every entry
/// `alpha` is the sample ratio n/d^2: samples over dimension squared.
namespace onset::aim {

/// The least possible error against the sample ratio: fixed points of state evolution.
struct Curve {
  std::string channel = "softmax";
  int tokens = 2;
  double rho = 0.5;  ///< 0: the limit of small widths, alpha meaning n/(d r)
  double beta = 1.0;
  std::optional<double> noise_variance = {};
  NoiseKind noise_kind = NoiseKind::scaled;
  std::optional<double> noise = {};
  PriorKind prior = PriorKind::wishart;
  int layers = 1;
  LayerLabels labels = LayerLabels::deep;
  HardmaxOutput output = HardmaxOutput::exact;
  double label_scale = 1.0;
  std::vector<double> alpha = {};
  std::uint64_t seed = 1;
  std::optional<double> tol = {};  ///< of mmse

  [[nodiscard]] Call settle() const;
  [[nodiscard]] Result run(const Context& context = {}) const;
};

/// When the matrix starts to be learned, and is known exactly.
struct Thresholds {
  std::string channel = "softmax";
  int tokens = 2;
  double rho = 0.5;  ///< 0: the limit of small widths, alpha meaning n/(d r)
  double beta = 1.0;
  std::optional<double> noise_variance = {};
  NoiseKind noise_kind = NoiseKind::scaled;
  std::optional<double> noise = {};
  PriorKind prior = PriorKind::wishart;
  int layers = 1;
  LayerLabels labels = LayerLabels::deep;
  HardmaxOutput output = HardmaxOutput::exact;
  double label_scale = 1.0;
  std::uint64_t seed = 1;
  std::optional<double> tol = {};  ///< of alpha, relative to it above 1

  [[nodiscard]] Call settle() const;
  [[nodiscard]] Result run(const Context& context = {}) const;
};

/// Eigenvalues of the matrix as the labels show it, and their best denoiser.
struct Spectrum {
  double rho = 0.5;
  std::optional<double> delta = {};  ///< variance of the noise; required
  int points = 101;                  ///< in each band
  std::uint64_t seed = 1;
  double tol = 1e-9;  ///< of density; not used

  [[nodiscard]] Call settle() const;
  [[nodiscard]] Result run(const Context& context = {}) const;
};

/// Approximate message passing, on drawn data or those of a folder. Fields of the model that are
/// not given come from the folder's manifest, or else have the defaults of the other requests.
struct Amp {
  std::optional<std::string> channel = {};
  std::optional<int> tokens = {};
  std::optional<double> rho = {};
  std::optional<double> beta = {};
  std::optional<double> noise_variance = {};
  std::optional<NoiseKind> noise_kind = {};
  std::optional<double> noise = {};
  std::optional<int> dim = {};
  std::optional<int> runs = {};
  std::vector<double> alpha = {};
  std::optional<std::string> data = {};  ///< a folder
  int iterations = 500;
  double damping = 0.5;
  ScoreVariances variances = ScoreVariances::norms;
  std::uint64_t seed = 1;
  double tol = 0.05;  ///< of mse; not used to stop

  [[nodiscard]] Call settle() const;
  [[nodiscard]] Result run(const Context& context = {}) const;
};

/// Gradient descent on the weights W of students, single and averaged.
struct Gd {
  std::string channel = "softmax";
  int tokens = 2;
  double rho = 0.5;
  double beta = 1.0;
  std::optional<double> noise_variance = {};
  NoiseKind noise_kind = NoiseKind::scaled;
  std::optional<double> noise = {};
  int dim = 100;
  std::vector<double> alpha = {};
  int starts = 8;  ///< students on each data set
  int runs = 4;    ///< data sets
  int steps = 1000;
  double rate = 0.1;
  std::uint64_t seed = 1;
  double tol = 0.05;  ///< of mse_averaged; not used to stop

  [[nodiscard]] Call settle() const;
  [[nodiscard]] Result run(const Context& context = {}) const;
};

/// The limit of online SGD: what a student knows at time tau = eta steps/d. With a rate, alpha =
/// n/d^2 is tau/rate.
struct Flow {
  std::string channel = "softmax";
  int tokens = 2;
  double rho = 0.5;
  double beta = 1.0;
  std::optional<double> noise_variance = {};
  NoiseKind noise_kind = NoiseKind::scaled;
  std::optional<double> noise = {};
  Student student = Student::tied;
  std::optional<TrainingLoss> loss = {};   ///< squared, or cross_entropy for hardmax labels
  std::optional<StudentStart> start = {};  ///< gaussian, or zero for a direct student
  std::optional<double> scale = {};        ///< 0.3
  std::optional<double> width_ratio = {};  ///< of a gaussian start; rho
  double decay = 0.0;
  std::optional<double> rate = {};  ///< learning rate times dimension over batch; no noise without
  std::vector<double> time = {};
  std::vector<double> spectrum = {};     ///< times of densities, instead of `time`
  std::optional<double> smoothing = {};  ///< of densities; 0.02
  int points = 201;                      ///< of a density
  int size = 64;                         ///< of matrices where there is no closed form
  int draws = 16;                        ///< pairs of such matrices
  std::uint64_t seed = 1;
  std::optional<double> tol = {};  ///< of mse

  [[nodiscard]] Call settle() const;
  [[nodiscard]] Result run(const Context& context = {}) const;
};

/// Online SGD at finite dimension, with the limit's values beside it.
struct Sgd {
  std::string channel = "softmax";
  int tokens = 2;
  double rho = 0.5;
  double beta = 1.0;
  std::optional<double> noise_variance = {};
  NoiseKind noise_kind = NoiseKind::scaled;
  std::optional<double> noise = {};
  Student student = Student::tied;
  std::optional<TrainingLoss> loss = {};   ///< squared, or cross_entropy for hardmax labels
  std::optional<StudentStart> start = {};  ///< gaussian, or zero for a direct student
  std::optional<double> scale = {};        ///< 0.3
  std::optional<double> width_ratio = {};  ///< of a gaussian start; rho
  double decay = 0.0;
  int dim = 100;
  int runs = 4;
  std::optional<double> rate = {};  ///< learning rate times dimension over batch
  std::optional<int> batch = {};    ///< one of the two may be left out
  std::vector<double> time = {};    ///< required
  TeacherSpectrum teacher = TeacherSpectrum::quantiles;
  std::uint64_t seed = 1;
  double tol = 0.05;  ///< of mse; not used to stop

  [[nodiscard]] Call settle() const;
  [[nodiscard]] Result run(const Context& context = {}) const;
};

/// A data set: arrays among the result's artifacts.
struct Generate {
  std::string channel = "softmax";
  int tokens = 2;
  double rho = 0.5;
  double beta = 1.0;
  std::optional<double> noise_variance = {};
  NoiseKind noise_kind = NoiseKind::scaled;
  std::optional<double> noise = {};
  int dim = 100;
  double alpha = 0.1;
  std::uint64_t seed = 1;
  double tol = 0.0;  ///< not used

  [[nodiscard]] Call settle() const;
  [[nodiscard]] Result run(const Context& context = {}) const;
};

}  // namespace onset::aim
