#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onset/core/verb.hpp"
#include "onset/ssi/learners/rate_policy.hpp"
#include "onset/ssi/learners/start.hpp"
#include "onset/ssi/model/loss.hpp"
#include "onset/ssi/model/reduction.hpp"

/// SGD in sequence single-index models and one-layer attention: what the command calls `onset ssi
/// ..`.
///
///   onset::ssi::Sie{.target = "He2(z1)+He2(z2)", .positional = true}.run(context)
///
/// A request has the command's defaults and gives its bits. `settle()` says what would be computed
/// (all effective parameters) and what it costs; `run()` computes it. Both throw InvalidArgument
/// for what the command would refuse with a message.
///
/// Fields that describe the model, the same in every request that has them:
///   target              g(z1, .., zL): an expression, or a name such as softmax or H2sum
///   tokens              L
///   student             attention, tied, untied, or an expression like the target
///   reduction, left, right   of attention: what of its matrix is the output
///   activation          of tied and untied students; relu unless given
///   positional          tokens carry +P, -P, +P, ..
///   encodings           vectors of one's own instead, one for each token
///   a, omega            the positional-semantic model, instead of all of these
///   loss                of one sample
/// Fields that describe SGD: dim (d of a token, whole), rate (eta), runs, start, and level, the
/// overlap max(|e|, |m|) whose first passage is recorded.
namespace onset::ssi {

/// The sequence information exponent of a target, and what a student makes of it.
struct Sie {
  std::optional<std::string> target = {};
  int tokens = 2;
  std::string student = "attention";
  Reduction reduction = Reduction::automatic;
  std::vector<double> left = {};
  std::vector<double> right = {};
  std::optional<std::string> activation = {};
  bool positional = false;
  std::optional<std::string> encodings = {};
  int degree = 0;  ///< the largest degree considered; 0 means 8 up to three tokens, 6 beyond
  std::int64_t samples = 400'000;  ///< samples of the directional test, where it is needed
  std::uint64_t seed = 1;
  double tol = 0.0;  ///< target error of R_ee (R_mm without positional encoding); 0 accepts any

  [[nodiscard]] static VerbOf<Sie> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// The population risk over the overlaps, and its minima.
struct Loss {
  std::optional<std::string> target = {};
  int tokens = 2;
  std::string student = "attention";
  Reduction reduction = Reduction::automatic;
  std::vector<double> left = {};
  std::vector<double> right = {};
  std::optional<std::string> activation = {};
  bool positional = false;
  std::optional<std::string> encodings = {};
  std::optional<double> a = {};
  std::optional<double> omega = {};
  SampleLoss loss = SampleLoss::half_squared;
  /// The number of values of each overlap, from -1 to 1; 41 unless given, fewer with many overlaps.
  std::optional<int> points = {};
  std::uint64_t seed = 1;
  std::optional<double> tol = {};  ///< target standard error of risk

  [[nodiscard]] static VerbOf<Loss> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// The phases of the positional-semantic model.
struct Phase {
  std::vector<double> a = {};
  std::vector<double> omega = {};
  int tokens = 2;
  bool curves = false;  ///< rows are the values of omega at which something changes
  std::uint64_t seed = 1;
  /// Target standard error of risk_min, or of global_switches with curves.
  std::optional<double> tol = {};

  [[nodiscard]] static VerbOf<Phase> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

enum class FlowMethod { ode, sde };
[[nodiscard]] std::string_view to_string(FlowMethod method);

/// The path of the overlaps under SGD at large d.
struct Flow {
  std::optional<std::string> target = {};
  int tokens = 2;
  std::string student = "attention";
  Reduction reduction = Reduction::automatic;
  std::vector<double> left = {};
  std::vector<double> right = {};
  std::optional<std::string> activation = {};
  bool positional = false;
  std::optional<std::string> encodings = {};
  std::optional<double> a = {};
  std::optional<double> omega = {};
  SampleLoss loss = SampleLoss::half_squared;
  FlowMethod method = FlowMethod::ode;
  double dim = 1000.0;
  double rate = 0.05;
  int runs = 256;  ///< the number of runs of the SDE
  Start start = Start::random;
  double level = 0.5;
  double time = 60.0;  ///< the last t = eta n/d
  int points = 61;     ///< the number of rows, from time 0 to the last
  std::optional<double> m0 = {};
  std::optional<double> e0 = {};
  std::uint64_t seed = 1;
  std::optional<double> tol = {};  ///< target standard error of m

  [[nodiscard]] static VerbOf<Flow> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// How SGD is simulated: by the exact chain of the overlaps, with all dimensions, or by the
/// diffusion at large d.
enum class SgdEngine { chain, full, sde };
[[nodiscard]] std::string_view to_string(SgdEngine engine);

/// Ensembles of online SGD runs.
struct Sgd {
  std::optional<std::string> target = {};
  int tokens = 2;
  std::string student = "attention";
  Reduction reduction = Reduction::automatic;
  std::vector<double> left = {};
  std::vector<double> right = {};
  std::optional<std::string> activation = {};
  bool positional = false;
  std::optional<std::string> encodings = {};
  std::optional<double> a = {};
  std::vector<double> omega = {};
  SampleLoss loss = SampleLoss::half_squared;
  double dim = 1000.0;
  double rate = 0.05;
  int runs = 256;
  Start start = Start::random;
  double level = 0.5;
  double steps = 0.0;  ///< steps of a run; 0 means (40 + 8 log d) d/eta
  int batch = 1;       ///< fresh samples of a step
  double noise = 0.0;  ///< standard deviation of label noise, per output
  SgdEngine engine = SgdEngine::chain;
  int trajectories = 0;  ///< rows are the paths of that many runs
  int points = 101;      ///< rows of a path, from the first step to the last
  std::uint64_t seed = 1;
  double tol = 0.0;  ///< target error of p_semantic (reached_fraction with a target); 0 accepts any

  [[nodiscard]] static VerbOf<Sgd> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// How many more samples untied weights need than tied ones.
struct Gain {
  std::vector<int> tokens = {2, 4, 8};
  RatePolicy policy = RatePolicy::equal;
  std::string target = "H2sum";
  std::string activation = "relu";
  SampleLoss loss = SampleLoss::half_squared;
  double dim = 1000.0;
  double rate = 0.05;  ///< the learning rate of the untied student
  int runs = 256;
  Start start = Start::overlapped;
  double level = 0.5;
  double steps = 0.0;  ///< the most steps of a run; 0 means 50 times those of the flow
  std::uint64_t seed = 1;
  double tol = 0.0;  ///< target standard error of gain; 0 accepts any

  [[nodiscard]] static VerbOf<Gain> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// How the time to weak recovery grows with the dimension.
struct Scaling {
  std::optional<std::string> target = {};
  int tokens = 2;
  std::string student = "attention";
  Reduction reduction = Reduction::automatic;
  std::vector<double> left = {};
  std::vector<double> right = {};
  std::optional<std::string> activation = {};
  bool positional = false;
  std::optional<std::string> encodings = {};
  std::vector<double> dim = {};          ///< dimensions; empty means a few that are quickly done
  std::optional<std::string> rate = {};  ///< of `dim`, say "0.1/sqrt(dim)"; else about the best
  int runs = 128;
  Start start = Start::random;
  double level = 0.5;
  double steps = 0.0;  ///< the most steps of a run; 0 means 50 times the expected ones
  std::uint64_t seed = 1;
  double tol = 0.0;  ///< target standard error of ratio; 0 accepts any

  [[nodiscard]] static VerbOf<Scaling> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

}  // namespace onset::ssi
