#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "onset/aim/model/choices.hpp"
#include "onset/aim/model/students.hpp"
#include "onset/core/verb.hpp"
#include "onset/device/kind.hpp"

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
///   noise            standard deviation of noise on the scores behind linear and softmax labels,
///                    0 unless given
///   noise_variance   the same as a variance s; one of the two is given, settling fills the other
///   noise_kind       whether it is s (1 + delta_ab) or s on every entry
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
  double skip = 1.0;  ///< connection between layers behind one label
  HardmaxOutput output = HardmaxOutput::exact;
  double label_scale = 1.0;
  std::vector<double> alpha = {};
  std::uint64_t seed = 1;
  std::optional<double> tol = {};  ///< target standard error of mmse

  [[nodiscard]] static VerbOf<Curve> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// Where the matrix starts to be learned, and where it is known exactly.
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
  std::vector<double> alpha = {};         ///< where the largest useful decay is wanted
  std::optional<TrainingLoss> loss = {};  ///< of that decay, as in Erm
  std::uint64_t seed = 1;
  std::optional<double> tol = {};  ///< target standard error of alpha, relative to alpha above 1

  [[nodiscard]] static VerbOf<Thresholds> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// The free entropy against the overlap; its maximum is the fixed point of Curve.
struct Potential {
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
  int points = 101;  ///< overlaps, evenly spaced
  std::uint64_t seed = 1;
  std::optional<double> tol = {};  ///< target standard error of free_entropy

  [[nodiscard]] static VerbOf<Potential> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// Eigenvalues of the matrix as the labels show it, and their best denoiser; or those of a trained
/// matrix.
struct Spectrum {
  std::string channel = "softmax";
  int tokens = 2;
  double rho = 0.5;
  double beta = 1.0;
  std::optional<double> noise_variance = {};
  NoiseKind noise_kind = NoiseKind::scaled;
  std::optional<double> noise = {};
  std::optional<double> delta = {};       ///< variance of the noise; required unless `learned`
  bool learned = false;                   ///< of the matrix that training with decay ends at
  std::optional<TrainingLoss> loss = {};  ///< with `learned`, as in Erm
  std::optional<double> alpha = {};       ///< required with `learned`
  std::optional<double> decay = {};       ///< required with `learned`
  int points = 101;                       ///< in each band
  std::uint64_t seed = 1;
  double tol = 1e-9;  ///< target standard error of the density; not used

  [[nodiscard]] static VerbOf<Spectrum> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// Approximate message passing, on drawn data or on those of a folder. Model fields that are not
/// given come from the folder's manifest, or else have the defaults of the other requests.
struct Amp {
  std::optional<std::string> channel = {};
  std::optional<int> tokens = {};
  std::optional<double> rho = {};
  std::optional<double> beta = {};
  std::optional<double> noise_variance = {};
  std::optional<NoiseKind> noise_kind = {};
  std::optional<double> noise = {};
  PriorKind prior = PriorKind::wishart;
  int layers = 1;
  LayerLabels labels = LayerLabels::deep;
  double skip = 1.0;  ///< connection between layers behind one label
  std::optional<int> dim = {};
  std::optional<int> runs = {};
  std::vector<double> alpha = {};
  std::optional<std::string> data = {};  ///< the folder with the data; drawn if not given
  int iterations = 500;
  double damping = 0.5;
  ScoreVariances variances = ScoreVariances::norms;
  std::optional<AmpPrecision> precision = {};  ///< mixed unless given; double on a GPU
  device::DeviceKind device = device::DeviceKind::cpu;
  std::uint64_t seed = 1;
  double tol = 0.05;  ///< target standard error of mse; it does not end a run

  [[nodiscard]] static VerbOf<Amp> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
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
  int starts = 8;                             ///< students on each data set
  int runs = 4;                               ///< data sets
  std::optional<int> steps = {};              ///< 1000 unless given; 4000 with decay
  std::optional<double> rate = {};            ///< 0.1 unless given; 0.05 with decay
  std::optional<RateSchedule> schedule = {};  ///< constant unless given; cosine with decay
  double decay = 0.0;                         ///< weight decay lambda of Erm
  std::optional<int> width = {};              ///< of the students; the teacher's unless given
  device::DeviceKind device = device::DeviceKind::cpu;
  std::uint64_t seed = 1;
  double tol = 0.05;  ///< target standard error of mse_averaged; it does not end a run

  [[nodiscard]] static VerbOf<Gd> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
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
  std::optional<SgdLoss> loss = {};        ///< squared, or cross_entropy for hardmax labels
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

  [[nodiscard]] static VerbOf<Flow> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
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
  std::optional<SgdLoss> loss = {};        ///< squared, or cross_entropy for hardmax labels
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

  [[nodiscard]] static VerbOf<Sgd> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// Where training with weight decay ends: the minimum of loss and penalty in the limit of large d.
struct Erm {
  std::string channel = "softmax";
  int tokens = 2;
  double rho = 0.5;
  double beta = 1.0;
  std::optional<double> noise_variance = {};
  NoiseKind noise_kind = NoiseKind::scaled;
  std::optional<double> noise = {};
  std::optional<TrainingLoss> loss = {};  ///< square unless given; cross-entropy for hardmax
  Penalty penalty = Penalty::trace;
  std::vector<double> alpha = {};
  std::string decay = "optimal";  ///< a grid of decays lambda, or `optimal`; 0: the limit of none
  std::optional<DecayGoal> optimise = {};  ///< mse unless given; test for hardmax
  std::optional<double> width_ratio = {};  ///< of the student; any that is wide enough unless given
  std::uint64_t seed = 1;
  std::optional<double> tol = {};  ///< of test

  [[nodiscard]] static VerbOf<Erm> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
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

  [[nodiscard]] static VerbOf<Generate> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

}  // namespace onset::aim
