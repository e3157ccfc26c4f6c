// Posteriors of attention networks of two tokens: a warp makes one estimate of one sample
// (two_token_sums.hpp), its lanes sharing the nodes in a fixed order.
#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "device.hpp"
#include "two_token_sums.hpp"

namespace onset_plugin {
namespace {

constexpr int warp = 32;
constexpr int warps_per_block = 4;
constexpr unsigned all_lanes = ~0u;

/// The lanes of a warp.
struct Warp {
  __device__ int rank() const { return static_cast<int>(threadIdx.x) % warp; }
  __device__ constexpr int size() const { return warp; }
  __device__ void wait() const { __syncwarp(); }
  /// Every lane gets the same bits, since either order of two terms has the same sum.
  __device__ double sum(double x) const {
    for (int offset = warp / 2; offset > 0; offset /= 2) x += __shfl_xor_sync(all_lanes, x, offset);
    return x;
  }
  __device__ double min(double x) const {
    for (int offset = warp / 2; offset > 0; offset /= 2) {
      x = smaller(x, __shfl_xor_sync(all_lanes, x, offset));
    }
    return x;
  }
};

template <int layers, bool with_products>
__global__ void __launch_bounds__(warp* warps_per_block)
    sum_samples(Network network, Prior prior, const double* records, std::size_t count,
                double* out) {
  __shared__ Sample<layers> samples[warps_per_block];
  __shared__ Totals<layers, with_products> totals[warps_per_block];
  constexpr OnsetSampleRecord record{layers};
  const int in_block = static_cast<int>(threadIdx.x) / warp;
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(warps_per_block) + in_block;
  if (i >= 2 * count) return;
  const Estimate<layers> estimate{network, prior, samples[in_block]};
  posterior_sums<layers, with_products>(estimate, records + i / 2 * record.size(),
                                        static_cast<int>(i % 2), Warp{}, samples[in_block],
                                        totals[in_block], out + i * record.sums(with_products));
}

template <int layers, bool with_products>
void launch(const Network& network, const Prior& prior, const double* records, std::size_t count,
            double* out, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((2 * count + warps_per_block - 1) / warps_per_block);
  sum_samples<layers, with_products>
      <<<blocks, warp * warps_per_block, 0, stream>>>(network, prior, records, count, out);
}

/// The kernels of every number of layers, without products and with them.
using Launch = decltype(&launch<2, false>);
constexpr Launch launches[][2] = {
    {launch<2, false>, launch<2, true>}, {launch<3, false>, launch<3, true>},
    {launch<4, false>, launch<4, true>}, {launch<5, false>, launch<5, true>},
    {launch<6, false>, launch<6, true>}, {launch<7, false>, launch<7, true>},
    {launch<8, false>, launch<8, true>}};
static_assert(std::size(launches) == ONSET_DEVICE_LAYERS - 1);

/// Memory of the GPU or, page-locked, of the processor; it grows and never shrinks.
template <cudaError_t (*allocate)(void**, std::size_t), cudaError_t (*release)(void*)>
class Memory {
 public:
  Memory() = default;
  ~Memory() { release(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  double* get(std::size_t count) {
    if (count > size_) {
      release(data_);
      data_ = nullptr;
      size_ = 0;
      check(allocate(&data_, count * sizeof(double)), "memory for the GPU");
      size_ = count;
    }
    return static_cast<double*>(data_);
  }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

cudaError_t allocate_on_device(void** data, std::size_t size) {
  return cudaMalloc(data, size);
}
cudaError_t allocate_locked(void** data, std::size_t size) {
  return cudaMallocHost(data, size);
}
using DeviceMemory = Memory<allocate_on_device, cudaFree>;
using LockedMemory = Memory<allocate_locked, cudaFreeHost>;

/// What one call at a time works with.
struct Lane {
  Lane() { check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream"); }
  ~Lane() { cudaStreamDestroy(stream); }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  cudaStream_t stream = nullptr;
  LockedMemory to_device, from_device;
  DeviceMemory records, sums;
};

/// Lanes that no call is using. They outlive the posteriors, which are made anew for every set of
/// nodes.
class Lanes {
 public:
  std::unique_ptr<Lane> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<Lane>();
    std::unique_ptr<Lane> lane = std::move(free_.back());
    free_.pop_back();
    return lane;
  }
  void give_back(std::unique_ptr<Lane> lane) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(lane));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Lane>> free_;
};

/// Never destroyed: at the end of the process the driver may be gone before it.
Lanes& lanes() {
  static Lanes* const all = new Lanes;
  return *all;
}

}  // namespace
}  // namespace onset_plugin

struct OnsetPosteriors {
  explicit OnsetPosteriors(const OnsetNetwork& from) : layers(from.layers) {
    using onset_plugin::check;
    if (layers < 2 || layers > ONSET_DEVICE_LAYERS) onset_plugin::fail("too many layers");
    const std::size_t count = from.sets * 2 * (layers - 1) * (from.nodes / 2);
    network = onset_plugin::network_of(from, normals.get(count));
    check(cudaMemcpy(normals.get(count), from.normals, count * sizeof(double),
                     cudaMemcpyHostToDevice),
          "copy to the GPU");
  }

  void sum(const OnsetSamples& samples, double* out) {
    using onset_plugin::check;
    const OnsetSampleRecord record{layers};
    const std::size_t in = samples.count * record.size();
    const bool with_products = samples.products != 0;
    const std::size_t made = 2 * samples.count * record.sums(with_products);
    const onset_plugin::Prior prior = onset_plugin::prior_of(samples, layers);
    // After a failure the lane is not given back, and ends with this call.
    std::unique_ptr<onset_plugin::Lane> lane = onset_plugin::lanes().take();
    std::copy_n(samples.records, in, lane->to_device.get(in));
    check(cudaMemcpyAsync(lane->records.get(in), lane->to_device.get(in), in * sizeof(double),
                          cudaMemcpyHostToDevice, lane->stream),
          "copy to the GPU");
    onset_plugin::launches[layers - 2][with_products](network, prior, lane->records.get(in),
                                                      samples.count, lane->sums.get(made),
                                                      lane->stream);
    check(cudaGetLastError(), "posteriors");
    check(cudaMemcpyAsync(lane->from_device.get(made), lane->sums.get(made), made * sizeof(double),
                          cudaMemcpyDeviceToHost, lane->stream),
          "copy from the GPU");
    check(cudaStreamSynchronize(lane->stream), "posteriors");
    std::copy_n(lane->from_device.get(made), made, out);
    onset_plugin::lanes().give_back(std::move(lane));
  }

  std::size_t layers;
  onset_plugin::DeviceMemory normals;
  onset_plugin::Network network{};
};

namespace onset_plugin {

OnsetPosteriors* make_posteriors(const OnsetNetwork* network) {
  OnsetPosteriors* posteriors = nullptr;
  (void)guarded([&] { posteriors = std::make_unique<OnsetPosteriors>(*network).release(); });
  return posteriors;
}

void forget_posteriors(OnsetPosteriors* posteriors) {
  delete posteriors;
}

int posterior_sums(OnsetPosteriors* posteriors, const OnsetSamples* samples, double* out) {
  return guarded([&] { posteriors->sum(*samples, out); });
}

}  // namespace onset_plugin
