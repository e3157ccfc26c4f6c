#include "ssi/learners/chain/chain.hpp"

#include <algorithm>
#include <cmath>

#include "core/prose.hpp"
#include "numerics/parallel.hpp"
#include "numerics/random/chi_square.hpp"
#include "numerics/random/normal_stream.hpp"
#include "numerics/random/stream.hpp"
#include "numerics/simd/clones.hpp"
#include "onset/core/error.hpp"

namespace onset::ssi {
namespace {

/// How many numbers are drawn at once: few enough for the fastest cache.
constexpr std::size_t draws_at_once = 1536;

std::unique_ptr<Chain> make_chain(const SequenceModel& model, const SgdOptions& options) {
  const double dim = options.dim;
  const double rate = options.rate;
  require_batch(model, options);
  if (model.student.vector_per_token) return untied_chain(model, dim, rate);
  if (model.all_encodings().own.size() > 1) return encoded_chain(model, dim, rate, options.batch);
  if (options.batch > 1) return sequence_chain(model, dim, rate, options.batch);
  if (model.student.activation) return tied_chain(model, dim, rate);
  const bool opposite = model.positional && !model.encodings;
  if (opposite && model.tokens() == 2 && model.student.link->is_attention_matrix()) {
    return two_token_chain(model, dim, rate);
  }
  return sequence_chain(model, dim, rate, 1);
}

/// Records first passages. Steps are kept as doubles, which are exact up to 2^53, so that the loop
/// vectorises.
ONSET_CLONES void note_passages(const double* e, const double* m, double level, double step,
                                double* first) {
  for (std::size_t p = 0; p < lanes; ++p) {
    const double size = std::max(std::abs(e[p]), std::abs(m[p]));
    const bool now = (first[p] == 0.0) & (size >= level);
    first[p] = now ? step : first[p];
  }
}

class Block {
 public:
  Block(const SequenceModel& model, const SgdOptions& options, std::size_t index)
      : model_(model),
        options_(options),
        index_(index),
        chain_(make_chain(model, options)),
        noise_(options.seed, "ssi chain noise", index),
        chi_square_(chain_->degrees()),
        steps_at_once_(std::max<std::size_t>(1, draws_at_once / (lanes * (chain_->rows() + 1)))) {
    const std::size_t rows = chain_->rows() + 1;
    normals_.resize(rows * steps_at_once_ * lanes);
    bits_.resize(steps_at_once_ * lanes);
    labels_.resize(options.batch * model.target->outputs() * steps_at_once_ * lanes);
    chain_->start(options.start, options.dim, options.seed, index);
    first_.fill(0.0);
    // Only lanes that have a run are waited for.
    const std::size_t own = std::min(lanes, options.runs - index * lanes);
    std::fill(first_.begin() + static_cast<std::ptrdiff_t>(own), first_.end(), 1.0);
  }

  void run(const Context& context) {
    numerics::NormalStream stream(options_.seed, "ssi chain", index_);
    numerics::Stream spare(options_.seed, "ssi chain spare", index_);
    note(0);
    for (std::uint64_t done = 0; done < options_.steps;) {
      if (options_.stop_at_level && all_have_passed()) return;
      context.check();
      const auto count = std::min<std::uint64_t>(steps_at_once_, options_.steps - done);
      advance(stream, spare, static_cast<std::size_t>(count), done);
      done += count;
    }
  }

  void finish(std::span<SgdRun> runs) {
    for (std::size_t p = 0; p < runs.size(); ++p) {
      runs[p] = {chain_->overlap_e()[p], chain_->overlap_m()[p],
                 static_cast<std::uint64_t>(first_[p]), std::move(paths_[p])};
    }
  }

 private:
  void note(std::uint64_t step) {
    note_passages(chain_->overlap_e().data(), chain_->overlap_m().data(), options_.level,
                  static_cast<double>(step), first_.data());
    if (kept_ < options_.path_steps.size() && options_.path_steps[kept_] == step) keep_paths();
  }

  void keep_paths() {
    ++kept_;
    for (std::size_t p = 0; p < lanes && index_ * lanes + p < options_.paths; ++p) {
      paths_[p].push_back({chain_->overlap_e()[p], chain_->overlap_m()[p]});
    }
  }

  [[nodiscard]] bool all_have_passed() const {
    return std::find(first_.begin(), first_.end(), 0.0) == first_.end();
  }

  void advance(numerics::NormalStream& stream, numerics::Stream& spare, std::size_t count,
               std::uint64_t done) {
    const std::size_t stride = count * lanes;
    const std::size_t rows = chain_->rows();
    const auto last = std::span(normals_).subspan(rows * stride, stride);
    const auto bits = std::span(bits_).first(stride);
    stream.fill(std::span(normals_).first(rows * stride));
    stream.fill(last, bits);
    chi_square_.sample(last, bits, spare, last);
    draw_labels(stride);
    for (std::size_t s = 0; s < count; ++s) {
      const std::size_t at = s * lanes;
      chain_->step({normals_.data() + at, stride, last.data() + at, labels_.data() + at});
      note(done + s + 1);
    }
  }

  /// The labels of all samples; label noise has a stream of its own.
  void draw_labels(std::size_t stride) {
    const std::size_t size = model_.target->outputs() * stride;
    for (std::size_t b = 0; b < options_.batch; ++b) {
      const double* teacher = normals_.data() + b * chain_->rows_of_sample() * stride;
      model_.target->values(stride, teacher, labels_.data() + b * size);
    }
    if (options_.noise == 0.0) return;
    const std::size_t count = options_.batch * size;
    noise_normals_.resize(count);
    noise_.fill(noise_normals_);
    for (std::size_t i = 0; i < count; ++i) labels_[i] += options_.noise * noise_normals_[i];
  }

  const SequenceModel& model_;
  const SgdOptions& options_;
  std::size_t index_;
  std::unique_ptr<Chain> chain_;
  numerics::NormalStream noise_;
  numerics::ChiSquare chi_square_;
  std::size_t steps_at_once_;
  std::vector<double> normals_;
  std::vector<std::uint64_t> bits_;
  std::vector<double> labels_;
  std::vector<double> noise_normals_;
  Lanes first_;
  std::size_t kept_ = 0;  ///< how many steps of the paths have passed
  std::array<std::vector<Overlaps>, lanes> paths_;
};

}  // namespace

void sphere_coordinates(double dimensions, std::size_t count, std::uint64_t seed, std::size_t block,
                        std::vector<double>& out) {
  numerics::NormalStream stream(seed, "ssi chain start", block);
  numerics::Stream spare(seed, "ssi chain start spare", block);
  std::vector<double> normals((count + 1) * lanes);
  std::vector<std::uint64_t> bits(normals.size());
  stream.fill(normals, bits);
  std::vector<double> rest(lanes);
  numerics::ChiSquare(dimensions - static_cast<double>(count))
      .sample(std::span(normals).last(lanes), std::span(bits).last(lanes), spare, rest);
  out.assign(count * lanes, 0.0);
  for (std::size_t p = 0; p < lanes; ++p) {
    double square = rest[p];
    for (std::size_t i = 0; i < count; ++i) {
      square += normals[i * lanes + p] * normals[i * lanes + p];
    }
    for (std::size_t i = 0; i < count; ++i) {
      out[i * lanes + p] = normals[i * lanes + p] / std::sqrt(square);
    }
  }
}

void require_batch(const SequenceModel& model, const SgdOptions& options) {
  if (options.batch == 1 || !model.student.vector_per_token) return;
  throw InvalidArgument("batch", prose(R"(
      of an untied student has one sample in the chain; allowed: 1, or `engine = full`)"));
}

std::vector<SgdRun> run_chain(const SequenceModel& model, const SgdOptions& options,
                              const Context& context) {
  options.validate(model);
  std::vector<SgdRun> runs(options.runs);
  const std::size_t blocks = (options.runs + lanes - 1) / lanes;
  numerics::parallel_for(context, blocks, [&](std::size_t b) {
    Block block(model, options, b);
    block.run(context);
    block.finish(std::span(runs).subspan(b * lanes, std::min(lanes, options.runs - b * lanes)));
  });
  return runs;
}

double chain_seconds(const SequenceModel& model, const SgdOptions& options) {
  // This was measured: it is the time of a normal and of what a step does with it.
  constexpr double ns_per_normal = 3.5;
  const auto batch = static_cast<double>(options.batch);
  const auto outputs = static_cast<double>(model.target->outputs());
  double rows = static_cast<double>(make_chain(model, options)->rows() + 1);
  if (options.noise > 0.0) rows += batch * outputs;
  const Link& student = *model.student.link;
  const double step = ns_per_normal * rows + batch * (model.target->value_ns() +
                                                      student.value_ns() + student.pullback_ns());
  // A block advances all its lanes, with or without a run.
  const std::size_t blocks = (options.runs + lanes - 1) / lanes;
  return 1e-9 * step * static_cast<double>(lanes * blocks) * static_cast<double>(options.steps);
}

}  // namespace onset::ssi
