#pragma once

#include <cstddef>
#include <cstdint>

/// What a device plug-in offers: a shared library that Onset loads at run time (docs/gpu.md). The
/// table has C functions and plain types only, so that a plug-in may be built by another compiler.
/// It needs nothing of Onset but this header, and C++17.
///
/// Numbers are doubles in row-major order, in the memory of the caller. A function that can fail
/// returns 0 when it has succeeded; otherwise error() says why. Calls for one `OnsetTokens` come
/// one at a time. The same calls on the same device give the same bits.
extern "C" {

#define ONSET_DEVICE_ABI 1

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
};

/// The one symbol of a plug-in.
const OnsetDevicePlugin* onset_device_plugin();

}  // extern "C"
