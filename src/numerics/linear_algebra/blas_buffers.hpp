#pragma once

namespace onset::numerics {

/// The right to one call of BLAS or LAPACK, for as long as it lives. OpenBLAS takes a large buffer
/// for every concurrent call, keeps it for later ones, and waits forever where there is no memory
/// for it. So the first call takes the buffers of all that may run at once, and calls wait for one
/// another where memory has room for a few buffers only, which changes no result. While an object
/// of this class lives, OpenBLAS has a single thread; afterwards it has as many as before. Throws
/// std::bad_alloc where there is no room for even one buffer.
class BlasCall {
 public:
  BlasCall();
  ~BlasCall();
  BlasCall(const BlasCall&) = delete;
  BlasCall& operator=(const BlasCall&) = delete;
};

/// Takes the buffers of later calls now, before the threads that will make them start: each of
/// these wants memory too. Throws as BlasCall does.
void prepare_blas_calls();

}  // namespace onset::numerics
