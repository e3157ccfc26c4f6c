#include "smi/model/posterior/device_posterior.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>

#include "device/posteriors.hpp"
#include "onset/core/error.hpp"
#include "smi/model/posterior/laplace_proposal.hpp"
#include "smi/model/posterior/two_token_batch.hpp"

namespace onset::smi {
namespace {

using two_token::BatchSums;
using two_token::NodeCounts;
using two_token::Plane;

std::unique_ptr<const device::Posteriors> make_posteriors(const DeepAttention& model,
                                                          const NodeCounts& nodes,
                                                          const PosteriorOptions& options) {
  std::vector<double> skip;
  for (int l = 0; l + 1 < model.layers; ++l) skip.push_back(model.skip_of(l));
  const std::vector<double> normals = two_token::node_normals(model.layers, options);
  return std::make_unique<device::Posteriors>(
      OnsetNetwork{static_cast<std::size_t>(model.layers), model.beta, skip.data(), nodes.prior,
                   nodes.last, nodes.centre, two_token::node_sets(nodes.prior), normals.data()});
}

/// Writes into a record, at the place that the record's layout has for it.
class RecordWriter {
 public:
  explicit RecordWriter(double* record) : record_(record) {}
  void write(std::size_t at, std::span<const double> numbers) {
    std::copy(numbers.begin(), numbers.end(), record_ + at);
  }
  void write(std::size_t at, Plane plane) { write(at, std::array{plane.plus, plane.minus}); }

 private:
  double* record_;
};

class DevicePosterior final : public Posterior {
 public:
  DevicePosterior(const DeepAttention& model, const PosteriorOptions& options)
      : model_(model),
        options_(options),
        nodes_(static_cast<std::size_t>(options.nodes)),
        layout_{static_cast<std::size_t>(model.layers)} {}

  [[nodiscard]] bool exact() const override { return false; }
  [[nodiscard]] bool between_blocks() const override { return true; }
  [[nodiscard]] bool on_device() const override { return true; }

  void moments(const PosteriorQuery& query, PosteriorMoments& out) const override {
    const two_token::Questions questions(query);
    std::vector<double> records(query.count * layout_.size());
    LaplaceProposal laplace(model_);
    TwoTokenSample sample;
    std::vector<Plane> centre;
    for (std::size_t i = 0; i < query.count; ++i) {
      questions.read(i, sample, centre);
      laplace.build(sample, centre);
      double* record = records.data() + i * layout_.size();
      write(sample, laplace, RecordWriter(record));
      for (std::size_t e = 0; e < 2; ++e) {
        const two_token::NodeKey key = questions.key(i, e, nodes_);
        record[layout_.set() + e] = static_cast<double>(key.set);
        for (std::size_t l = 0; l + 1 < layout_.layers; ++l) {
          record[layout_.turn() + e * (layout_.layers - 1) + l] = key.turn(l);
        }
      }
    }
    const bool coupled = !query.coupling.empty();
    const bool products = coupled || !out.half[0].cross.empty();
    const std::size_t size = layout_.sums(products);
    std::vector<double> sums(2 * query.count * size);
    device().sums({query.count, questions.deviation().data(),
                   coupled ? query.coupling.data() : nullptr, records.data(), products ? 1 : 0},
                  sums);
    std::vector<BatchSums> layers(layout_.layers);
    for (std::size_t i = 0; i < query.count; ++i) {
      for (std::size_t e = 0; e < 2; ++e) {
        const double* const of = sums.data() + (2 * i + e) * size;
        read(of + 1, layers);
        PosteriorMoments::Half& half = out.half[e];
        two_token::store(layers, of[0], nodes_, i, half);
        const double* const product = of + layout_.sums(false);
        for (std::size_t k = 0; k * query.count < half.cross.size(); ++k) {
          half.cross[k * query.count + i] = product[k] / layers[0].all[0];
        }
      }
    }
  }

 private:
  /// Nodes are made at the first question: a branch has finer posteriors at hand than it may need.
  [[nodiscard]] const device::Posteriors& device() const {
    std::call_once(made_, [this] { device_ = make_posteriors(model_, nodes_, options_); });
    return *device_;
  }

  void write(const TwoTokenSample& sample, const LaplaceProposal& laplace, RecordWriter to) const {
    const LaplaceComponent& component = laplace.component();
    to.write(layout_.label(), sample.h);
    for (std::size_t l = 0; l < layout_.layers; ++l) {
      to.write(layout_.omega() + 2 * l, sample.omega[l]);
    }
    for (std::size_t l = 0; l + 1 < layout_.layers; ++l) {
      to.write(layout_.side() + 2 * l, two_token::side_of(laplace.centre()[l]));
    }
    to.write(layout_.mean(), component.mean);
    std::size_t at = layout_.factor();
    const std::size_t size = layout_.inner();
    for (std::size_t row = 0; row < size; ++row) {
      to.write(at, std::span(component.factor).subspan(row * size + row, size - row));
      at += size - row;
    }
    to.write(layout_.slope(), component.slope);
    to.write(layout_.offset(), component.offset);
    constexpr double none = std::numeric_limits<double>::infinity();
    to.write(layout_.log_top(), std::array{is_usable(component) ? log_top(component) : none});
  }

  /// The sums of every layer from those of a device: first ones, then all.
  void read(const double* from, std::vector<BatchSums>& layers) const {
    const double* all = from + layout_.moments();
    for (std::size_t l = 0; l < layers.size(); ++l) {
      layers[l].first[0] = from[0];
      layers[l].all[0] = all[0];
      std::copy_n(from + 1 + 5 * l, 5, layers[l].first.begin() + 1);
      std::copy_n(all + 1 + 5 * l, 5, layers[l].all.begin() + 1);
    }
  }

  DeepAttention model_;
  PosteriorOptions options_;
  NodeCounts nodes_;
  OnsetSampleRecord layout_;
  mutable std::once_flag made_;
  mutable std::unique_ptr<const device::Posteriors> device_;
};

}  // namespace

bool has_device_posterior(const DeepAttention& model) {
  return model.plain() && model.tokens == 2 && model.layers >= 2 &&
         model.layers <= ONSET_DEVICE_LAYERS;
}

std::unique_ptr<Posterior> device_posterior(const DeepAttention& model,
                                            const PosteriorOptions& options) {
  model.validate();
  options.validate();
  if (!has_device_posterior(model)) {
    throw InvalidArgument("device", fmt::format("has posteriors of plain attention of two tokens "
                                                "and 2 to {} layers only",
                                                ONSET_DEVICE_LAYERS));
  }
  return std::make_unique<DevicePosterior>(model, options);
}

}  // namespace onset::smi
