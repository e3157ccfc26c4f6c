#include "smi/verbs/data_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <span>
#include <string>

#include "io/arrays.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/random.hpp"

namespace onset::smi {
namespace {

/// Multiplies the tokens of every sample by a lower triangular matrix, or by its inverse.
void mix_tokens(const std::vector<double>& root, bool inverse, Dataset& data) {
  const std::size_t m = data.tokens;
  std::vector<double> column(m);
  for (std::size_t i = 0; i < data.samples; ++i) {
    double* x = data.inputs.data() + i * m * data.dimension;
    for (std::size_t d = 0; d < data.dimension; ++d) {
      for (std::size_t t = 0; t < m; ++t) column[t] = x[t * data.dimension + d];
      for (std::size_t t = 0; t < m; ++t) {
        double sum = inverse ? column[t] : root[t * m + t] * column[t];
        for (std::size_t s = 0; s < t; ++s)
          sum += (inverse ? -1.0 : 1.0) * root[t * m + s] * column[s];
        if (inverse) sum = column[t] = sum / root[t * m + t];
        x[t * data.dimension + d] = sum;
      }
    }
  }
}

/// The attention matrix of a label u (rank x tokens).
void matrix_of_label(const DeepAttention& model, std::span<const double> u, std::span<double> y) {
  DeepAttention last;
  last.layers = 1;
  last.tokens = model.tokens;
  last.rank = {model.rank_of(model.layers - 1)};
  last.beta = model.beta;
  attention_matrix(last, u, y);
}

/// h up to its sign from the logarithms of an attention matrix [smi 4], with the pair of tokens
/// that are furthest apart as reference. False when digits were lost (an entry is 0).
bool label_of_matrix(double beta, std::span<const double> y, std::span<double> h) {
  const std::size_t m = h.size();
  const auto score = [&](std::size_t i, std::size_t j) {
    return (std::log(y[i * m + i]) - std::log(y[i * m + j])) / beta;  // h_i (h_i - h_j)
  };
  std::size_t first = 0, second = 1;
  double widest = -1.0;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double square = score(i, j) + score(j, i);
      if (!std::isfinite(square)) return false;
      if (square > widest) {
        widest = square;
        first = i;
        second = j;
      }
    }
  }
  const double distance = std::sqrt(widest);
  if (!(distance > 0.0)) return false;
  h[first] = score(first, second) / distance;
  h[second] = -score(second, first) / distance;
  const std::size_t base = std::abs(h[first]) > std::abs(h[second]) ? first : second;
  for (std::size_t k = 0; k < m; ++k) {
    if (k != first && k != second) h[k] = h[base] - score(base, k) / h[base];
  }
  return true;
}

std::vector<double> transposed(const std::vector<double>& rows, std::size_t samples) {
  const std::size_t size = rows.size() / samples;
  std::vector<double> out(rows.size());
  for (std::size_t i = 0; i < samples; ++i) {
    for (std::size_t k = 0; k < size; ++k) out[k * samples + i] = rows[i * size + k];
  }
  return out;
}

/// Why no label follows from an attention matrix.
std::string fault_of(std::span<const double> matrix, std::size_t tokens) {
  constexpr double rounding = 1e-6;
  for (std::size_t r = 0; r < tokens; ++r) {
    double sum = 0.0;
    for (std::size_t k = 0; k < tokens; ++k) {
      const double x = matrix[r * tokens + k];
      if (x < 0.0 || x > 1.0) return " has an entry outside of 0 to 1";
      if (x == 0.0 || x == 1.0) return " has entries rounded to 0 or 1, so that its label is lost";
      sum += x;
    }
    if (std::abs(sum - 1.0) > rounding) return " has a row that does not sum to 1";
  }
  return {};
}

/// One row per sample: h of every attention matrix.
std::vector<double> labels_from_matrices(const std::filesystem::path& path, double beta,
                                         std::size_t samples, std::size_t tokens) {
  const std::vector<double> y =
      io::read_reals(path, {{"samples", samples}, {"tokens", tokens}, {"tokens", tokens}}).values;
  std::vector<double> rows(samples * tokens);
  for (std::size_t i = 0; i < samples; ++i) {
    const auto matrix = std::span(y).subspan(i * tokens * tokens, tokens * tokens);
    std::string fault = fault_of(matrix, tokens);
    if (fault.empty() &&
        !label_of_matrix(beta, matrix, std::span(rows).subspan(i * tokens, tokens))) {
      fault = " is none of this model: its scores are not those of one direction";
    }
    if (!fault.empty()) {
      throw IoError(path.string(), "the attention matrix of sample " + std::to_string(i) + fault +
                                       "; allowed: positive rows that sum to 1, or the labels "
                                       "themselves in H.npy");
    }
  }
  return rows;
}

/// What labels of a link can be, seen from many draws: one of a few values, or none below 0.
struct LabelRange {
  std::set<double> values;  ///< empty: more than a few
  bool negative = false;
};

LabelRange label_range(const SequenceModel& model, std::size_t number) {
  constexpr std::size_t draws = 4096, few = 16;
  std::vector<double> fields(model.shape().fields());
  std::vector<double> noise(fields.size(), 0.0);
  std::vector<double> label(static_cast<std::size_t>(model.label_size()));
  numerics::Stream stream(1, "smi label range");
  LabelRange range;
  bool many = false;
  for (std::size_t i = 0; i < draws; ++i) {
    stream.normal(fields);
    model.label(fields, noise, label);
    range.negative = range.negative || label[number] < 0.0;
    if (!many) range.values.insert(label[number]);
    many = many || range.values.size() > few;
  }
  if (many) range.values.clear();
  return range;
}

/// Labels that no fields have would be taken for the nearest ones.
void check_labels(const std::filesystem::path& path, const SequenceModel& model,
                  const std::vector<double>& rows) {
  const auto size = static_cast<std::size_t>(model.label_size());
  for (std::size_t k = 0; k < size; ++k) {
    const LabelRange range = label_range(model, k);
    for (std::size_t i = k; i < rows.size(); i += size) {
      const bool known =
          range.values.empty() ? range.negative || rows[i] >= 0.0 : range.values.contains(rows[i]);
      if (known) continue;
      std::string allowed;
      for (const double v : range.values) {
        allowed += (allowed.empty() ? "" : ", ") + to_text(Value(v));
      }
      throw IoError(
          path.string(),
          "the label " + to_text(Value(rows[i])) + " of sample " + std::to_string(i / size) +
              " is none of this link; allowed: " + (allowed.empty() ? "0 or more" : allowed));
    }
  }
}

std::vector<double> read_labels(const std::filesystem::path& folder, const NamedModel& named,
                                std::size_t samples) {
  const auto size = static_cast<std::size_t>(named.model->label_size());
  const io::Extents wanted{{"samples", samples}, {"numbers of a label", size}};
  if (!named.attention) {
    const std::vector<double> rows = io::read_reals(folder / "Y.npy", wanted).values;
    check_labels(folder / "Y.npy", *named.model, rows);
    return transposed(rows, samples);
  }
  if (std::filesystem::exists(folder / "H.npy")) {
    return transposed(io::read_reals(folder / "H.npy", wanted).values, samples);
  }
  return transposed(labels_from_matrices(folder / "Y.npy", named.attention->beta, samples, size),
                    samples);
}

/// Message passing relies on inputs of the law that the model says: others would look like a
/// divergence. What may be off besides the scatter of so many numbers: inputs of one's own are
/// seldom exactly normal.
constexpr double max_moment_deviation = 0.1;
constexpr double standard_errors = 5.0;

void check_second_moments(const std::filesystem::path& path, const NamedModel& named,
                          const Dataset& data) {
  const std::size_t m = data.tokens, dim = data.dimension;
  std::vector<double> covariance(m * m, 0.0);
  for (std::size_t t = 0; t < m; ++t) covariance[t * m + t] = 1.0;
  if (named.attention && !named.attention->token_covariance.empty()) {
    covariance = named.attention->token_covariance;
  }
  const double count = static_cast<double>(data.samples * dim);
  const double allowed = max_moment_deviation + standard_errors * std::sqrt(2.0 / count);
  for (std::size_t s = 0; s < m; ++s) {
    for (std::size_t t = 0; t <= s; ++t) {
      double sum = 0.0;
      for (std::size_t i = 0; i < data.samples; ++i) {
        const double* a = data.inputs.data() + (i * m + s) * dim;
        sum = std::inner_product(a, a + dim, data.inputs.data() + (i * m + t) * dim, sum);
      }
      const double found = sum / count;
      if (std::abs(found - covariance[s * m + t]) <= allowed) continue;
      const std::string wanted = to_text(Value(covariance[s * m + t]));
      throw IoError(path.string(),
                    s == t ? fmt::format("the inputs of token {} have the mean square {:.3g}; "
                                         "allowed: {}, as of numbers of mean 0 and variance 1",
                                         s + 1, found, wanted)
                           : fmt::format("the inputs of tokens {} and {} have the mean product "
                                         "{:.3g}; allowed: {}, see --token-correlation",
                                         t + 1, s + 1, found, wanted));
    }
  }
}

std::vector<double> read_teacher(const std::filesystem::path& path, std::size_t directions,
                                 std::size_t dimension) {
  auto teacher =
      io::read_reals(path, {{"directions", directions}, {"dimension", dimension}}).values;
  for (std::size_t d = 0; d < directions; ++d) {
    const auto row = std::span(teacher).subspan(d * dimension, dimension);
    if (std::all_of(row.begin(), row.end(), [](double w) { return w == 0.0; })) {
      throw IoError(path.string(),
                    "direction " + std::to_string(d) + " is zero; allowed: weights that are not");
    }
  }
  return teacher;
}

}  // namespace

std::vector<Artifact> data_files(const NamedModel& named, const Dataset& data) {
  const FieldShape& shape = named.model->shape();
  const std::size_t n = data.samples;
  const auto size = static_cast<std::size_t>(named.model->label_size());
  std::vector<double> rows(n * size);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < size; ++k) rows[i * size + k] = data.labels[k * n + i];
  }
  std::vector<Artifact> files;
  Dataset mixed = data;
  if (named.attention && !named.attention->token_covariance.empty()) {
    mix_tokens(named.attention->token_root(), false, mixed);
  }
  files.push_back({"X.npy", Array{{n, data.tokens, data.dimension}, std::move(mixed.inputs)}});
  files.push_back({"truth/w.npy", Array{{shape.directions(), data.dimension}, data.teacher}});
  if (!named.attention) {
    files.push_back({"Y.npy", Array{{n, size}, std::move(rows)}});
    return files;
  }
  const std::size_t square = data.tokens * data.tokens;
  std::vector<double> y(n * square);
  for (std::size_t i = 0; i < n; ++i) {
    const auto u = std::span(rows).subspan(i * size, size);
    matrix_of_label(*named.attention, u, std::span(y).subspan(i * square, square));
    // The sign is no part of the label.
    if (u[0] < 0.0) {
      for (double& x : u) x = -x;
    }
  }
  files.push_back({"Y.npy", Array{{n, data.tokens, data.tokens}, std::move(y)}});
  if (size == data.tokens) files.push_back({"H.npy", Array{{n, size}, std::move(rows)}});
  return files;
}

Dataset read_data(const std::filesystem::path& folder, const NamedModel& named) {
  const FieldShape& shape = named.model->shape();
  Dataset data;
  data.tokens = static_cast<std::size_t>(shape.tokens);
  auto inputs =
      io::read_reals(folder / "X.npy", {{"samples"}, {"tokens", data.tokens}, {"dimension"}});
  data.samples = inputs.shape[0];
  data.dimension = inputs.shape[2];
  data.inputs = std::move(inputs.values);
  check_second_moments(folder / "X.npy", named, data);
  data.labels = read_labels(folder, named, data.samples);
  if (named.attention && !named.attention->token_covariance.empty()) {
    mix_tokens(named.attention->token_root(), true, data);
  }
  if (std::filesystem::exists(folder / "truth" / "w.npy")) {
    data.teacher = read_teacher(folder / "truth" / "w.npy", shape.directions(), data.dimension);
  }
  return data;
}

}  // namespace onset::smi
