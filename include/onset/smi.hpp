#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onset/core/verb.hpp"
#include "onset/device/kind.hpp"
#include "onset/smi/limits/branch_choice.hpp"

/// Sequence multi-index models and deep attention networks: what the command calls `onset smi ..`.
///
///   onset::smi::Thresholds{.layers = 3}.run(context)
///
/// A request has the command's defaults and gives its bits. `settle()` says what would be computed
/// (all effective parameters) and what it costs; `run()` computes it. Both throw InvalidArgument
/// for what the command would refuse with a message.
///
/// Fields that describe the model, the same in every request:
///   layers, tokens, skip, beta, rank, noise   deep attention, see DeepAttention; if not given,
///                       tokens are 2, or those that a typed link reads
///   weights             of queries and keys: tied, or untied (one layer)
///   token_correlation   none, R, equi:R, ar1:R, or a file with the matrix
///   link                a multi-index model instead of deep attention, by name ("square") or
///                       typed as an expression of the fields ("sign(z1)*z2"; docs/links.md)
/// `alpha` is the sample ratio N/D: samples over dimension.
namespace onset::smi {

/// Whether a layer's scores are made by one set of weights or by two.
enum class Weights {
  tied,    ///< queries and keys have the same weights
  untied,  ///< weights of their own: two blocks, queries and keys
};

[[nodiscard]] std::string_view to_string(Weights weights);

/// When each layer, or direction of a link, starts to be learned.
struct Thresholds {
  int layers = 2;
  std::optional<int> tokens = {};
  std::vector<double> skip = {1.0};
  double beta = 1.0;
  std::vector<int> rank = {1};
  Weights weights = Weights::tied;
  double noise = 0.0;
  std::string token_correlation = "none";
  std::string link = "none";
  std::optional<int> stages = {};  ///< ends after this many stages, the last one without its jump
  device::DeviceKind device = device::DeviceKind::cpu;  ///< that integrates posteriors
  std::uint64_t seed = 1;
  std::optional<double> tol = {};  ///< target standard error of alpha

  [[nodiscard]] static VerbOf<Thresholds> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// Overlaps and test errors against the sample ratio: fixed points of state evolution.
struct Curve {
  int layers = 2;
  std::optional<int> tokens = {};
  std::vector<double> skip = {1.0};
  double beta = 1.0;
  std::vector<int> rank = {1};
  Weights weights = Weights::tied;
  double noise = 0.0;
  std::string token_correlation = "none";
  std::string link = "none";
  std::vector<double> alpha = {};
  BranchChoice branch = BranchChoice::uninformed;
  std::vector<int> unlearned = {};  ///< layers, counted from 1, whose overlaps are 0 in the errors
  int hold_layer = 0;               ///< counted from 1; 0 holds none
  double hold_overlap = 0.0;
  device::DeviceKind device = device::DeviceKind::cpu;  ///< that integrates posteriors
  std::uint64_t seed = 1;
  std::optional<double> tol = {};  ///< target standard error of Q11

  [[nodiscard]] static VerbOf<Curve> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// State evolution in time: overlaps and test errors after every iteration of message passing.
struct Evolution {
  int layers = 2;
  std::optional<int> tokens = {};
  std::vector<double> skip = {1.0};
  double beta = 1.0;
  std::vector<int> rank = {1};
  Weights weights = Weights::tied;
  double noise = 0.0;
  std::string token_correlation = "none";
  std::string link = "none";
  std::vector<double> alpha = {};
  int iterations = 50;
  std::int64_t dim = 1000;                 ///< overlaps start at 1/D, and do not fall below it
  std::vector<double> start_overlap = {};  ///< another start: one for all layers, or one each
  std::uint64_t seed = 1;
  std::optional<double> tol = {};  ///< target standard error of every overlap

  [[nodiscard]] static VerbOf<Evolution> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// Along which overlaps the free entropy is wanted.
enum class OverlapPath {
  all,   ///< every overlap the same
  one,   ///< the overlap of one layer varies
  grid,  ///< all combinations
};

[[nodiscard]] std::string_view to_string(OverlapPath path);

/// The free entropy against the overlaps, and its maximisers.
struct Potential {
  int layers = 2;
  std::optional<int> tokens = {};
  std::vector<double> skip = {1.0};
  double beta = 1.0;
  std::vector<int> rank = {1};
  Weights weights = Weights::tied;
  double noise = 0.0;
  std::string token_correlation = "none";
  std::string link = "none";
  std::vector<double> alpha = {};
  OverlapPath path = OverlapPath::all;
  int points = 20;                 ///< values 0, 1/n, .., 1 - 1/n of an overlap
  int layer = 1;                   ///< counted from 1: its overlap varies with OverlapPath::one
  std::vector<double> at = {0.0};  ///< the overlaps of the other layers then
  std::uint64_t seed = 1;
  double tol = 1e-2;  ///< target standard error of free_entropy

  [[nodiscard]] static VerbOf<Potential> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// Data of a model in files: X.npy, Y.npy, truth/w.npy and, for attention of rank one, H.npy.
struct Generate {
  int layers = 2;
  std::optional<int> tokens = {};
  std::vector<double> skip = {1.0};
  double beta = 1.0;
  std::vector<int> rank = {1};
  Weights weights = Weights::tied;
  double noise = 0.0;
  std::string token_correlation = "none";
  std::string link = "none";
  std::int64_t dim = 500;
  std::optional<std::int64_t> samples = {};  ///< N; or N/D as
  std::optional<double> alpha = {};
  std::uint64_t seed = 1;
  double tol = 0.0;  ///< has no effect: nothing is estimated

  [[nodiscard]] static VerbOf<Generate> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// Where message passing starts.
enum class AmpInit {
  random,    ///< at small random weights
  spectral,  ///< at the eigenvectors of the optimal spectral method
  planted,   ///< at a given overlap with the teacher
};

[[nodiscard]] std::string_view to_string(AmpInit init);

/// Approximate message passing on drawn data, or on data of one's own.
struct Amp {
  // The model is deep attention with the usual defaults where neither these fields nor the data say
  // otherwise.
  std::optional<int> layers = {};
  std::optional<int> tokens = {};
  std::vector<double> skip = {};
  std::optional<double> beta = {};
  std::vector<int> rank = {};
  std::optional<Weights> weights = {};
  std::optional<double> noise = {};
  std::optional<std::string> token_correlation = {};
  std::optional<std::string> link = {};
  std::optional<std::int64_t> dim = {};   ///< 500, or that of the data
  std::vector<double> alpha = {};         ///< if not given, all samples of the data are used
  std::optional<std::int64_t> runs = {};  ///< 8, or 1 on data
  int iterations = 200;                   ///< the most that a run makes
  AmpInit init = AmpInit::random;
  std::optional<double> start_overlap = {};  ///< of every layer, with AmpInit::planted
  double start = 1e-3;                       ///< the standard deviation of the initial weights
  double damping = 0.0;
  int restarts = 3;
  int nodes = 128;  ///< nodes of the posterior's integrals; a power of two
  bool trajectories = false;
  std::optional<std::string> data = {};                 ///< the folder with the data, see Generate
  device::DeviceKind device = device::DeviceKind::cpu;  ///< that integrates posteriors
  std::uint64_t seed = 1;
  double tol = 0.0;  ///< target standard error of Q11; 0 accepts what the runs give

  [[nodiscard]] static VerbOf<Amp> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// Leaps: which degree of a label's information shows each direction, and how the number of samples
/// that it takes grows with the dimension.
struct Exponent {
  int layers = 2;
  std::optional<int> tokens = {};
  std::vector<double> skip = {1.0};
  double beta = 1.0;
  std::vector<int> rank = {1};
  Weights weights = Weights::tied;
  double noise = 0.0;
  std::string token_correlation = "none";
  std::string link = "none";
  int max_degree = 6;  ///< the largest leap that is looked for
  std::uint64_t seed = 1;
  double tol = 0.0;  ///< target standard error of weight; 0 accepts what a verdict needs

  [[nodiscard]] static VerbOf<Exponent> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// Spectral methods: bulk edge, outliers and overlaps in the limit, and the estimators on data.
struct Spectral {
  // The model is deep attention with the usual defaults where neither these fields nor the data say
  // otherwise.
  std::optional<int> layers = {};
  std::optional<int> tokens = {};
  std::vector<double> skip = {};
  std::optional<double> beta = {};
  std::vector<int> rank = {};
  std::optional<Weights> weights = {};
  std::optional<double> noise = {};
  std::optional<std::string> token_correlation = {};
  std::optional<std::string> link = {};
  std::vector<double> alpha = {};         ///< if not given, all samples of the data are used
  std::string method = "symmetric";       ///< symmetric, bulk, lamp or gamma:X
  std::optional<std::int64_t> dim = {};   ///< with it, estimators on drawn data too
  std::optional<std::int64_t> runs = {};  ///< 4, or 1 on data
  int nodes = 512;                        ///< nodes of the posterior's integrals; a power of two
  std::optional<std::string> data = {};   ///< the folder with the data, see Generate
  std::uint64_t seed = 1;
  double tol = 0.0;  ///< target standard error of overlap; 0 accepts what the rules give

  [[nodiscard]] static VerbOf<Spectral> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// How stochastic gradient descent is followed.
enum class SgdEngine {
  batch,   ///< epochs over given samples
  online,  ///< one pass over fresh samples, full dimension
  chain,   ///< the same law, at a cost that does not depend on the dimension
  flow,    ///< its limit of large dimension
};

[[nodiscard]] std::string_view to_string(SgdEngine engine);

/// Stochastic gradient descent of deep attention or a link: which layer or direction is learned
/// first. Defaults that depend on the engine are given as (batch, others).
struct Sgd {
  int layers = 2;
  int tokens = 2;
  std::vector<double> skip = {1.0};
  double beta = 1.0;
  std::vector<int> rank = {1};
  std::string token_correlation = "none";
  std::string link = "none";
  double noise = 0.0;  ///< that many standard normals are added to every output of the link
  SgdEngine engine = SgdEngine::batch;
  std::optional<std::int64_t> dim = {};    ///< (500, 1000)
  std::optional<double> alpha = {};        ///< N/D of the training set (15, none)
  std::optional<std::int64_t> batch = {};  ///< samples of a step (200, 1)
  std::optional<int> reuse = {};           ///< consecutive steps on each batch (3, none)
  std::optional<double> rate = {};         ///< see SgdOptions (15, 0.3)
  std::optional<double> decay = {};        ///< (0.07, 0)
  double init = 0.9;                       ///< standard deviation of the student's weights
  double start_cosine = 0.0;
  std::optional<double> time = {};  ///< epochs, or samples over dimension (1700, 300)
  std::int64_t records = 200;
  std::int64_t runs = 1;
  double level = 0.0;  ///< above 0: rows say when layers first reach this cosine
  std::uint64_t seed = 1;
  double tol = 0.0;  ///< target standard error of cos1, or of time with a level; 0 accepts any

  [[nodiscard]] static VerbOf<Sgd> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

/// Which part of a label "COARSE:fine" is the class.
enum class TextLabels { coarse, fine };

[[nodiscard]] std::string_view to_string(TextLabels labels);

/// What a level refers to: the way from a layer's first similarity to 1, or the similarity itself.
enum class LevelOf { way, similarity };

[[nodiscard]] std::string_view to_string(LevelOf of);

/// A transformer trained on questions: which layer is learned first.
struct Text {
  std::string train = {};  ///< the files with the questions
  std::string test = {};
  TextLabels labels = TextLabels::coarse;
  std::int64_t min_count = 1;  ///< words that the training file has less often count as unknown
  std::int64_t embedding = 128;
  std::int64_t layers = 2;
  std::int64_t width = 64;
  double skip = 1.0;
  double weight_scale = 0.1;
  double embedding_scale = 1.0;
  double rate = 5e-5;
  double decay = 0.01;
  std::int64_t batch = 16;
  std::int64_t epochs = 40;
  std::int64_t runs = 4;
  std::int64_t record = 100;  ///< steps between rows
  double level = 0.5;         ///< the level at which a layer counts as learned
  LevelOf level_of = LevelOf::way;
  bool order = false;                           ///< the rows are layers
  std::optional<std::string> fingerprint = {};  ///< that of both files; checked when given
  std::uint64_t seed = 1;
  double tol = 0.0;  ///< target standard error of the mean accuracy; 0 accepts any

  [[nodiscard]] static VerbOf<Text> verb();
  [[nodiscard]] Call settle() const { return verb().call(*this); }
  [[nodiscard]] Result run(const Context& context = {}) const { return verb().run(*this, context); }
};

}  // namespace onset::smi
