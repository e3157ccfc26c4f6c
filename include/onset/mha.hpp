#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "onset/core/verb.hpp"
#include "onset/mha/model/degeneracy.hpp"
#include "onset/mha/model/inputs.hpp"

/// Learning a multi-head attention layer from random examples: what the command calls
/// `onset mha ..`.
///
///   onset::mha::Learn{.examples = "examples"}.run(context)
///
/// A request has the command's defaults and gives its bits. `settle()` reads the folders and says
/// what would be computed (all effective parameters) and what it costs; `run()` computes it. Both
/// throw InvalidArgument and IoError for what the command would refuse with a message. Arrays are
/// among the artifacts of a result: theta.npy, w.npy and certificate.json of what was learned.
///
/// Fields that say where files are, the same in every request:
///   examples   folder with X.npy (N x k x d) and Y.npy (the same shape)
///   inputs     what X.npy has; if not given, what the manifest beside it says, or Boolean
///   model      folder that the artifacts of Learn were written to
///   truth      folder with the true theta.npy and w.npy (m x d x d)
/// Fields that describe a random layer and its examples: heads m, dim d, tokens k, samples N,
///   scale       Frobenius norm of a typical theta
///   coherence   theta_i = G + coherence G_i; 0: independent heads
///   noise       standard deviation of label noise, per coordinate
///   inputs      whether the entries of tokens are 1 and -1 or standard normal
///   degenerate, degree   whether and how far the layer hides its heads (by default all the way)
/// `tol` has no effect: the numbers are facts about one run and the examples at hand.
namespace onset::mha {

/// Random examples of a random layer: the artifacts X.npy, Y.npy, truth/theta.npy, truth/w.npy.
struct Generate {
  int heads = 2;
  int dim = 8;
  int tokens = 2;
  double scale = 3.0;
  std::int64_t samples = 100'000;
  double coherence = 0.0;
  double noise = 0.0;
  Inputs inputs = Inputs::boolean;
  std::optional<double> degree = {};
  Degeneracy degenerate = Degeneracy::none;
  std::uint64_t seed = 1;
  double tol = 0.0;

  [[nodiscard]] static VerbOf<Generate> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// The layer behind examples, in six phases, with a certificate.
struct Learn {
  std::string examples = {};
  std::optional<int> heads = {};  ///< found from the singular gap unless given
  std::optional<Inputs> inputs = {};
  bool no_polish = false;  ///< stop at what the geometry gives
  std::uint64_t seed = 1;
  double tol = 0.0;

  [[nodiscard]] static VerbOf<Learn> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// Checks the certificate of a learned layer against the examples, without the learner.
struct Verify {
  std::string examples = {};
  std::string model = {};
  std::uint64_t seed = 1;
  double tol = 0.0;

  [[nodiscard]] static VerbOf<Verify> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// Compares a learned layer with the truth.
struct Evaluate {
  std::string examples = {};
  std::string model = {};
  std::string truth = {};
  std::uint64_t seed = 1;
  double tol = 0.0;

  [[nodiscard]] static VerbOf<Evaluate> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// How far a given layer is from degenerate, and how many examples would show its heads.
struct Inspect {
  std::string layer = {};  ///< folder with theta.npy and w.npy
  int tokens = 2;
  Inputs inputs = Inputs::boolean;
  std::uint64_t seed = 1;
  double tol = 0.0;

  [[nodiscard]] static VerbOf<Inspect> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// Plain optimisation from random starts, for comparison with Learn.
struct Baseline {
  std::string examples = {};
  std::optional<Inputs> inputs = {};
  int heads = 2;
  int starts = 4;  ///< the number of starts of each method
  double scale = 3.0;
  int lm_steps = 60;      ///< budget of a Levenberg-Marquardt start, in Jacobians
  int adam_steps = 2500;  ///< budget of an Adam start, in minibatches; 0: no Adam
  std::uint64_t seed = 1;
  double tol = 0.0;

  [[nodiscard]] static VerbOf<Baseline> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// Draws a layer, learns it and compares every phase with the truth, without files.
struct Trial {
  int heads = 2;
  int dim = 8;
  int tokens = 2;
  double scale = 3.0;
  std::int64_t samples = 100'000;
  double coherence = 0.0;
  double noise = 0.0;
  Inputs inputs = Inputs::boolean;
  std::optional<double> degree = {};
  Degeneracy degenerate = Degeneracy::none;
  bool no_polish = false;
  std::uint64_t seed = 1;
  double tol = 0.0;

  [[nodiscard]] static VerbOf<Trial> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// Draws a layer and lets the six phases, least squares and Adam try to learn it, without files.
struct Compare {
  int heads = 2;
  int dim = 8;
  int tokens = 2;
  double scale = 3.0;
  std::int64_t samples = 20'000;
  double coherence = 0.0;
  double noise = 0.0;
  Inputs inputs = Inputs::boolean;
  std::optional<double> degree = {};
  Degeneracy degenerate = Degeneracy::none;
  int starts = 8;         ///< the number of starts of each method
  int lm_steps = 60;      ///< budget of a Levenberg-Marquardt start, in Jacobians
  int adam_steps = 2500;  ///< budget of an Adam start, in minibatches; 0: no Adam
  std::uint64_t seed = 1;
  double tol = 0.0;

  [[nodiscard]] static VerbOf<Compare> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

}  // namespace onset::mha
