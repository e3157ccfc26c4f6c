// What the sources of the plug-in share.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "onset/device/plugin.hpp"

namespace onset_plugin {

inline thread_local std::string last_error;

[[noreturn]] inline void fail(const std::string& what) {
  throw std::runtime_error(what);
}
inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // a later call must not report it again
  fail(std::string(what) + ": " + cudaGetErrorString(status));
}

/// Turns exceptions into what the interface returns.
template <class Work>
int guarded(Work work) {
  try {
    work();
    return 0;
  } catch (const std::exception& error) {
    last_error = error.what();
    return 1;
  }
}

OnsetPosteriors* make_posteriors(const OnsetNetwork* network);
void forget_posteriors(OnsetPosteriors* posteriors);
int posterior_sums(OnsetPosteriors* posteriors, const OnsetSamples* samples, double* out);

}  // namespace onset_plugin
