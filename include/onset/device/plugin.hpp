#pragma once

#include <cstddef>
#include <cstdint>

/// What a device plug-in offers: a shared library that Onset loads at run time (docs/gpu.md). The
/// table has C functions and plain types only, so that a plug-in may be built by another compiler.
/// It needs nothing of Onset but this header, and C++17.
///
/// Numbers are doubles in row-major order, in the memory of the caller. A function that can fail
/// returns 0 when it has succeeded; otherwise error() says why. Calls for one `OnsetTokens` come
/// one at a time, those for one `OnsetPosteriors` from several threads at once. The same calls on
/// the same device give the same bits.
extern "C" {

#define ONSET_DEVICE_ABI 3

/// The tokens of one data set, n samples of T tokens of d numbers, and the memory to work on them.
struct OnsetTokens;

struct OnsetTokenShape {
  std::size_t samples;
  std::size_t tokens;
  std::size_t dim;
};

/// Tokens that are a stream of normals: the counters of Philox4x32-10. Block k has the counter (k
/// mod 2^32, counter1 + k / 2^32, counter2, counter3) and gives draws 2 k and 2 k + 1.
struct OnsetDraws {
  std::uint32_t key0, key1;
  std::uint32_t counter1, counter2, counter3;
};

/// Posteriors of an attention network of two tokens: its nodes, in the memory of the device.
struct OnsetPosteriors;

/// The largest number of layers of such a network.
#define ONSET_DEVICE_LAYERS 8

/// The network [smi 8] and the nodes of its three proposals [smi 29].
struct OnsetNetwork {
  std::size_t layers;  ///< 2 to ONSET_DEVICE_LAYERS
  double beta;
  const double* skip;        ///< of the layers below the last
  std::size_t nodes;         ///< of the first proposal
  std::size_t last_nodes;    ///< of the second one, which draws the last field
  std::size_t centre_nodes;  ///< of the third one, the linearised network
  std::size_t sets;
  /// sets x 2 (layers - 1) x nodes/2: node 2 k of a set has number k, node 2 k + 1 its negative.
  const double* normals;
};

/// Samples whose posteriors are wanted: label and prior of every layer, in the rotated basis (t1 +
/// t2, t1 - t2)/sqrt 2, and the linearised network. Each has a record of numbers, which lie where
/// OnsetSampleRecord says.
struct OnsetSamples {
  std::size_t count;
  const double* deviation;  ///< sqrt V of every layer, the same for all samples
  /// Multiplies all priors by exp(-zeta^T K zeta / 2), K of layers x layers [smi 86]. Null means
  /// that layers do not depend on one another.
  const double* coupling;
  const double* records;
  int products;  ///< whether sums over products of layers are wanted; 1 where there is a coupling
};

struct OnsetDevicePlugin {
  std::uint32_t abi;  ///< ONSET_DEVICE_ABI of the header that the plug-in was built with

  /// What went wrong in the last call of this thread, as a clause without a full stop.
  const char* (*error)();
  /// Whether there is a device, and its name, for people.
  int (*find)(char* name, std::size_t size);

  /// Copies tokens to the device, or makes those of `draws` (kept where they fit into its memory,
  /// made again for every product where they do not). Null where that failed.
  OnsetTokens* (*copy_tokens)(OnsetTokenShape shape, const double* tokens);
  OnsetTokens* (*draw_tokens)(OnsetTokenShape shape, OnsetDraws draws);
  void (*forget_tokens)(OnsetTokens* tokens);

  /// x_a^T S x_b of all samples and pairs a <= b, for a symmetric `matrix` S of d x d.
  int (*pair_products)(OnsetTokens* tokens, const double* matrix, double* out);
  /// |x_a|^2 of all tokens.
  int (*squared_norms)(OnsetTokens* tokens, double* out);
  /// The sum over samples and pairs a <= b of weights_ab (x_a x_b^T + x_b x_a^T)/2, d x d.
  int (*weighted_products)(OnsetTokens* tokens, const double* weights, double* out);

  /// The eigenvalues of a symmetric d x d matrix, increasing; its vectors stay on the device for
  /// with_eigenvalues, which gives the matrix with other eigenvalues.
  int (*eigenvalues)(OnsetTokens* tokens, const double* matrix, double* values);
  int (*with_eigenvalues)(OnsetTokens* tokens, const double* values, double* out);

  /// For each of `count` matrices W of d x width: (W^T x_a) . (W^T x_b) of all samples and pairs
  /// a <= b, count x n x T (T + 1)/2. The fields W^T x stay on the device for student_gradients.
  int (*student_products)(OnsetTokens* tokens, const double* weights, std::size_t width,
                          std::size_t count, double* out);
  /// The derivatives, with respect to these W, of the sum of slopes times student products; both
  /// are laid out as there, and the derivatives as W is.
  int (*student_gradients)(OnsetTokens* tokens, const double* slopes, double* out);

  /// Copies the nodes to the device. Null where that failed.
  OnsetPosteriors* (*make_posteriors)(const OnsetNetwork* network);
  void (*forget_posteriors)(OnsetPosteriors* posteriors);
  /// Weighted sums over the nodes of every sample, for its two inner estimates one after the other:
  /// count x 2 x OnsetSampleRecord::sums() numbers. They are the shift, in units of whose
  /// exp(-shift) the sums are; those over the first half of each proposal's nodes; those over all.
  /// Either are the weight and, for every layer, p, m, p p, p m, m m of zeta = (z - omega)/sqrt V.
  /// Wanted products p p' + m m' of layers k > l follow, over all nodes, at k (k - 1)/2 + l.
  int (*posterior_sums)(OnsetPosteriors* posteriors, const OnsetSamples* samples, double* out);
};

/// The one symbol of a plug-in.
const OnsetDevicePlugin* onset_device_plugin();

}  // extern "C"

/// Where the numbers of a sample's record lie, n = 2 (layers - 1) of them per inner fields.
struct OnsetSampleRecord {
  std::size_t layers;

  constexpr std::size_t inner() const { return 2 * (layers - 1); }
  constexpr std::size_t label() const { return 0; }                    ///< plus, minus
  constexpr std::size_t omega() const { return 2; }                    ///< of every layer
  constexpr std::size_t side() const { return omega() + 2 * layers; }  ///< the centre's, or any
  constexpr std::size_t mean() const { return side() + inner(); }      ///< of the third proposal
  constexpr std::size_t factor() const { return mean() + inner(); }    ///< upper triangle, rows
  constexpr std::size_t slope() const { return factor() + inner() * (inner() + 1) / 2; }
  constexpr std::size_t offset() const { return slope() + 2 * inner(); }  ///< plus, minus
  /// The logarithm of the third proposal's density over the first one's where that is largest;
  /// infinite where there is no third proposal.
  constexpr std::size_t log_top() const { return offset() + 2; }
  constexpr std::size_t set() const { return log_top() + 1; }  ///< of either estimate
  /// The angle by which each layer's nodes are turned, as a part of a whole turn.
  constexpr std::size_t turn() const { return set() + 2; }
  constexpr std::size_t size() const { return turn() + inner(); }

  /// The sums of one estimate.
  constexpr std::size_t moments() const { return 1 + 5 * layers; }
  constexpr std::size_t products() const { return layers * (layers - 1) / 2; }
  constexpr std::size_t sums(bool with_products) const {
    return 1 + 2 * moments() + (with_products ? products() : 0);
  }
};
