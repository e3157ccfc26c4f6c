#include "aim/learners/label_test.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "aim/model/channel.hpp"
#include "aim/model/channels/hardmax/choices.hpp"
#include "aim/model/token_products.hpp"
#include "numerics/random/stream.hpp"

namespace onset::aim {
namespace {

/// Labels drawn for each of the two means of [aim 41].
constexpr int draws_of_a_mean = 8;

}  // namespace

LabelTest::LabelTest(const AttentionIndexed& model, std::vector<double> truth, std::size_t dim,
                     std::uint64_t seed, std::uint64_t index, const Context& context)
    : model_(model), seed_(seed), index_(index) {
  Teacher teacher;
  teacher.dim = dim;
  teacher.matrix = std::move(truth);
  data_ = sample_data(model, teacher, samples, {.seed = seed, .index = index, .use = DataUse::test},
                      context);
  if (model.channel->numbers() == LabelNumbers::logarithms) {
    for (double& y : data_.labels) y = std::exp(y);
  }
}

std::vector<double> LabelTest::labels_of(const std::vector<double>& scores) const {
  const std::size_t each = scores.size() / data_.samples;
  const std::size_t shown = data_.labels.size() / data_.samples;
  std::vector<double> out(data_.labels.size());
  for (std::size_t s = 0; s < data_.samples; ++s) {
    model_.channel->label(model_, {scores.data() + s * each, each},
                          {out.data() + s * shown, shown});
  }
  if (model_.channel->numbers() == LabelNumbers::logarithms) {
    for (double& y : out) y = std::exp(y);
  }
  return out;
}

std::vector<double> LabelTest::scores(const std::vector<double>& matrix,
                                      const Context& context) const {
  std::vector<double> out(data_.samples * data_.tokens * (data_.tokens + 1) / 2);
  scores_of(*token_products(data_, context), matrix, data_.tokens, out);
  return out;
}

double LabelTest::error(const std::vector<double>& prediction) const {
  const bool choices = model_.channel->numbers() == LabelNumbers::columns;
  double sum = 0.0;
  for (std::size_t i = 0; i < prediction.size(); ++i) {
    const double difference = prediction[i] - data_.labels[i];
    sum += choices ? (difference == 0.0 ? 0.0 : 1.0) : difference * difference;
  }
  const std::size_t count = choices ? prediction.size() : data_.samples;
  return sum / static_cast<double>(count);
}

double LabelTest::plug_in(const std::vector<double>& matrix, const Context& context) const {
  return error(labels_of(scores(matrix, context)));
}

double LabelTest::best(const std::vector<double>& matrix, double variance,
                       const Context& context) const {
  const std::vector<double> known = scores(matrix, context);
  switch (model_.channel->numbers()) {
    case LabelNumbers::reals: return error(labels_of(known));  // the mean is the label of the mean
    case LabelNumbers::logarithms: return error_of_means(known, variance);
    case LabelNumbers::columns: break;
  }
  return error_of_choices(known, variance);
}

/// |y - E y'|^2 without bias: the product of two differences, with means of independent draws.
double LabelTest::error_of_means(const std::vector<double>& known, double variance) const {
  const std::size_t tokens = data_.tokens;
  const std::size_t each = known.size() / data_.samples;
  std::vector<double> deviation(each, std::sqrt(variance + model_.noise_on(false)));
  for (std::size_t a = 0; a < tokens; ++a) {
    deviation[score_index(a, a, tokens)] = std::sqrt(2.0 * variance + model_.noise_on(true));
  }
  numerics::Stream stream(seed_, "aim unknown scores", index_);
  std::vector<double> z(known.size());
  const auto mean = [&] {
    std::vector<double> sum(data_.labels.size(), 0.0);
    for (int draw = 0; draw < draws_of_a_mean; ++draw) {
      stream.normal(z);
      for (std::size_t i = 0; i < z.size(); ++i) z[i] = known[i] + deviation[i % each] * z[i];
      const std::vector<double> labels = labels_of(z);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += labels[i] / draws_of_a_mean;
    }
    return sum;
  };
  const std::vector<double> first = mean();
  const std::vector<double> second = mean();
  double sum = 0.0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    sum += (first[i] - data_.labels[i]) * (second[i] - data_.labels[i]);
  }
  return sum / static_cast<double>(data_.samples);
}

/// The most probable choice of every row [aim 38].
double LabelTest::error_of_choices(const std::vector<double>& known, double variance) const {
  const std::size_t tokens = data_.tokens;
  const std::size_t each = known.size() / data_.samples;
  std::vector<double> row(tokens);
  std::vector<double> choices;
  for (std::size_t s = 0; s < data_.samples; ++s) {
    for (std::size_t a = 0; a < tokens; ++a) {
      for (std::size_t b = 0; b < tokens; ++b) {
        row[b] = known[s * each + score_index(std::min(a, b), std::max(a, b), tokens)];
      }
      choices.push_back(static_cast<double>(most_probable_choice(row, a, variance)));
    }
  }
  return error(choices);
}

double LabelTest::mean_of(const std::vector<std::vector<double>>& matrices,
                          const Context& context) const {
  std::vector<double> mean(data_.labels.size(), 0.0);
  for (const std::vector<double>& matrix : matrices) {
    const std::vector<double> labels = labels_of(scores(matrix, context));
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] += labels[i] / static_cast<double>(matrices.size());
    }
  }
  return error(mean);
}

}  // namespace onset::aim
