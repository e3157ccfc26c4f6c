#pragma once

namespace onset::numerics {

/// The right to one call of BLAS or LAPACK, for as long as it lives. OpenBLAS takes a large buffer
/// for every call that runs at one time, keeps it for later ones, and waits for ever where there is
/// no memory for it. So calls wait for one another where memory has room for a few buffers only,
/// which changes no result. While one lives, OpenBLAS has a single thread of its own; afterwards it
/// has as many as before. Throws std::bad_alloc where there is no room for a single one.
class BlasCall {
 public:
  BlasCall();
  ~BlasCall();
  BlasCall(const BlasCall&) = delete;
  BlasCall& operator=(const BlasCall&) = delete;
};

}  // namespace onset::numerics
