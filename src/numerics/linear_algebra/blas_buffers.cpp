#include "numerics/linear_algebra/blas_buffers.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>
#include <semaphore>
#include <string_view>
#include <vector>

#include "onset/core/context.hpp"

extern "C" void openblas_set_num_threads(int threads);
extern "C" int openblas_get_num_threads();
extern "C" char* openblas_get_config();
// What every call of BLAS does first and last. They are in no header, so a build without them
// links.
extern "C" [[gnu::weak]] void* blas_memory_alloc(int where);
extern "C" [[gnu::weak]] void blas_memory_free(void* buffer);

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

/// How many calls OpenBLAS has places for: it has twice as many as the threads that it was built
/// for, of which threads of its own may hold half.
std::ptrdiff_t built_calls() {
  constexpr std::string_view key = "MAX_THREADS=";
  const std::string_view config = openblas_get_config();
  const std::size_t at = config.find(key);
  if (at == std::string_view::npos) return available_threads();
  const long built = std::strtol(config.data() + at + key.size(), nullptr, 10);
  return built < 1 ? available_threads() : built;
}

/// How many calls may run at the same time: one for each core, as long as their buffers take no
/// more than half of the room; the other half is for everything else.
std::ptrdiff_t affordable_calls() {
  std::ptrdiff_t calls = std::min<std::ptrdiff_t>(available_threads(), built_calls());
  while (calls > 1 && !has_room(2 * static_cast<std::size_t>(calls) * buffer_bytes)) --calls;
  return calls;
}

/// Lets OpenBLAS take as many buffers as it can be given, which it keeps: other memory may eat the
/// room for them later, and then it would wait for ever. Nothing touches them, so they cost no
/// memory yet. Returns how many there are.
std::ptrdiff_t take_buffers() {
  const std::ptrdiff_t wanted = affordable_calls();
  std::vector<void*> taken;
  taken.reserve(static_cast<std::size_t>(wanted));
  for (std::ptrdiff_t i = 0; i < wanted && has_room(buffer_bytes); ++i) {
    taken.push_back(blas_memory_alloc != nullptr ? blas_memory_alloc(0) : nullptr);
  }
  for (void* const buffer : taken) {
    if (buffer != nullptr) blas_memory_free(buffer);
  }
  if (taken.empty()) throw std::bad_alloc();
  return static_cast<std::ptrdiff_t>(taken.size());
}

std::counting_semaphore<>& calls() {
  static std::counting_semaphore<> free(take_buffers());
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

void prepare_blas_calls() {
  (void)calls();
}

BlasCall::BlasCall() {
  calls().acquire();
  one_thread().enter();
}

BlasCall::~BlasCall() {
  one_thread().leave();
  calls().release();
}

}  // namespace onset::numerics
