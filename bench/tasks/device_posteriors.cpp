// Times one evaluation of the channel of deep attention, the inner loop of thresholds and curves,
// on two cores of the processor and on the device of this machine; the sides' numbers are compared
// by tests. Arguments: layers, inner nodes, outer points per replicate; items are posteriors.
#include <benchmark/benchmark.h>

#include <vector>

#include "device/device.hpp"
#include "onset/smi/limits/channel.hpp"
#include "smi/model/attention_model.hpp"

namespace {

using onset::device::DeviceKind;

void evaluate(benchmark::State& state, DeviceKind device, int threads) {
  if (device == DeviceKind::gpu && onset::device::device().plugin == nullptr) {
    state.SkipWithError(onset::device::device().text.c_str());
    return;
  }
  onset::smi::DeepAttention attention;
  attention.layers = static_cast<int>(state.range(0));
  const auto model = attention_model(attention, device);
  onset::smi::ChannelOptions options;
  options.nodes = static_cast<int>(state.range(1));
  options.points = static_cast<std::size_t>(state.range(2));
  const onset::smi::Channel channel(*model, options);
  // The last layers are learned, as along a staircase.
  std::vector<double> variance(static_cast<std::size_t>(attention.layers), 1.0);
  for (std::size_t l = variance.size() / 2; l < variance.size(); ++l) variance[l] = 0.2;
  onset::Context context;
  context.threads = threads;
  for (auto _ : state) benchmark::DoNotOptimize(channel.at(variance, context));
  state.SetItemsProcessed(state.iterations() * state.range(2) * options.replicates);
}

void two_cores(benchmark::State& state) {
  evaluate(state, DeviceKind::cpu, 2);
}
void on_device(benchmark::State& state) {
  evaluate(state, DeviceKind::gpu, onset::available_threads());
}

}  // namespace

BENCHMARK(two_cores)
    ->ArgsProduct({{2, 4, 6, 8}, {256, 1024}, {64}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(on_device)
    ->ArgsProduct({{2, 4, 6, 8}, {256, 1024, 4096}, {256, 2048}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
