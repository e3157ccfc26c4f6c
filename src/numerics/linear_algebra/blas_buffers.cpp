#include "numerics/linear_algebra/blas_buffers.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <mutex>
#include <new>
#include <semaphore>

#include "onset/core/context.hpp"

extern "C" void openblas_set_num_threads(int threads);
extern "C" int openblas_get_num_threads();

namespace onset::numerics {
namespace {

/// The size of a buffer of OpenBLAS on x86 (elsewhere it is smaller), rounded up to a page.
constexpr std::size_t buffer_bytes = std::size_t{130} << 20;

/// Whether the process may have that much more memory. Only trying tells, since it depends on
/// several limits and on the kernel's policy.
bool has_room(std::size_t bytes) {
  void* const room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return false;
  munmap(room, bytes);
  return true;
}

/// How many calls may run at the same time: one for each core, as long as their buffers take no
/// more than half of the room; the other half is for everything else.
std::ptrdiff_t affordable_calls() {
  for (std::ptrdiff_t calls = available_threads(); calls > 0; --calls) {
    if (has_room(2 * static_cast<std::size_t>(calls) * buffer_bytes)) return calls;
  }
  if (!has_room(buffer_bytes)) throw std::bad_alloc();
  return 1;
}

std::counting_semaphore<>& calls() {
  static std::counting_semaphore<> free(affordable_calls());
  return free;
}

/// OpenBLAS gives different bits for different numbers of its own threads, so it gets one thread
/// while calls of ours run. The number belongs to the whole process, which may be somebody else's:
/// the last call to end puts it back.
class OneThread {
 public:
  void enter() {
    const std::lock_guard lock(mutex_);
    if (running_++ > 0) return;
    usual_ = openblas_get_num_threads();
    openblas_set_num_threads(1);
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) openblas_set_num_threads(usual_);
  }

 private:
  std::mutex mutex_;
  int running_ = 0;
  int usual_ = 1;
};

OneThread& one_thread() {
  static OneThread state;
  return state;
}

}  // namespace

BlasCall::BlasCall() {
  calls().acquire();
  one_thread().enter();
}

BlasCall::~BlasCall() {
  one_thread().leave();
  calls().release();
}

}  // namespace onset::numerics
