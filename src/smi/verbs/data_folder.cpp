#include "smi/verbs/data_folder.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <span>
#include <string>

#include "core/prose.hpp"
#include "io/arrays.hpp"
#include "io/file_status.hpp"
#include "numerics/random/stream.hpp"
#include "numerics/zeros.hpp"
#include "onset/core/error.hpp"
#include "onset/core/parameters.hpp"

namespace onset::smi {
namespace {

/// Multiplies the tokens of every sample by the root of their covariance, or by its inverse.
void mix_tokens(const std::vector<double>& root, bool inverse, Dataset& data,
                const Context& context) {
  if (root.empty()) return;
  const std::size_t m = data.tokens;
  std::vector<double> column(m);
  numerics::for_each_until_stopped(data.samples, context, [&](std::size_t i) {
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
  });
}

std::vector<double> transposed(const std::vector<double>& rows, std::size_t samples) {
  const std::size_t size = rows.size() / samples;
  std::vector<double> out(rows.size());
  for (std::size_t i = 0; i < samples; ++i) {
    for (std::size_t k = 0; k < size; ++k) out[k * samples + i] = rows[i * size + k];
  }
  return out;
}

/// One row per sample: the label of what was observed.
std::vector<double> labels_from_form(const std::filesystem::path& path, const LabelForm& form,
                                     std::size_t samples, std::size_t label_size) {
  io::Extents wanted{{"samples", samples}};
  for (const std::size_t size : form.shape()) wanted.push_back({"entries", size});
  const std::vector<double> y = io::read_reals(path, wanted).values;
  const std::size_t size = y.size() / samples;
  std::vector<double> rows(samples * label_size);
  for (std::size_t i = 0; i < samples; ++i) {
    const std::string fault = form.read(std::span(y).subspan(i * size, size),
                                        std::span(rows).subspan(i * label_size, label_size));
    if (!fault.empty()) {
      throw IoError(path.string(), "the label of sample " + std::to_string(i) + " " + fault);
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
  std::vector<double> noise(static_cast<std::size_t>(model.noise_size()));
  std::vector<double> label(static_cast<std::size_t>(model.label_size()));
  numerics::Stream stream(1, "smi label range");
  LabelRange range;
  bool many = false;
  for (std::size_t i = 0; i < draws; ++i) {
    stream.normal(fields);
    stream.normal(noise);
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

std::vector<double> read_labels(const std::filesystem::path& folder, const SequenceModel& model,
                                std::size_t samples) {
  const auto size = static_cast<std::size_t>(model.label_size());
  const io::Extents wanted{{"samples", samples}, {"numbers of a label", size}};
  const LabelForm* form = model.label_form();
  if (form == nullptr) {
    const std::vector<double> rows = io::read_reals(folder / "Y.npy", wanted).values;
    check_labels(folder / "Y.npy", model, rows);
    return transposed(rows, samples);
  }
  if (io::is_there(folder / "H.npy")) {
    return transposed(io::read_reals(folder / "H.npy", wanted).values, samples);
  }
  return transposed(labels_from_form(folder / "Y.npy", *form, samples, size), samples);
}

/// Message passing relies on inputs of the law that the model says: others would look like a
/// divergence. What may be off besides the scatter of so many numbers: inputs of one's own are
/// seldom exactly normal.
constexpr double max_moment_deviation = 0.1;
constexpr double standard_errors = 5.0;

void check_second_moments(const std::filesystem::path& path, const SequenceModel& model,
                          const Dataset& data) {
  const std::size_t m = data.tokens, dim = data.dimension;
  const std::vector<double> root = model.token_root();
  const auto covariance = [&](std::size_t s, std::size_t t) {
    const double* r = root.data();
    if (root.empty()) return s == t ? 1.0 : 0.0;
    return std::inner_product(r + s * m, r + (s + 1) * m, r + t * m, 0.0);
  };
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
      const double wanted = covariance(s, t);
      if (std::abs(found - wanted) <= allowed) continue;
      throw IoError(path.string(), s == t ? prose(R"(
          the inputs of token {} have the mean square {:.3g}; allowed: {:.3g}, as of numbers of
          mean 0 and variance 1)",
                                                  s + 1, found, wanted)
                                          : prose(R"(
          the inputs of tokens {} and {} have the mean product {:.3g}; allowed: {:.3g}, see
          `token_correlation`)",
                                                  t + 1, s + 1, found, wanted));
    }
  }
}

io::Extents input_extents(const SequenceModel& model) {
  const auto tokens = static_cast<std::size_t>(model.shape().tokens);
  return {{"samples"}, {"tokens", tokens}, {"dimension"}};
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

std::vector<Artifact> data_files(const SequenceModel& model, Dataset data, const Context& context) {
  const std::size_t n = data.samples;
  const auto size = static_cast<std::size_t>(model.label_size());
  std::vector<double> rows;
  numerics::lay_zeros(rows, n * size, context);
  numerics::for_each_until_stopped(n, context, [&](std::size_t i) {
    for (std::size_t k = 0; k < size; ++k) rows[i * size + k] = data.labels[k * n + i];
  });
  std::vector<Artifact> files;
  mix_tokens(model.token_root(), false, data, context);
  files.push_back({"X.npy", Array{{n, data.tokens, data.dimension}, std::move(data.inputs)}});
  files.push_back(
      {"truth/w.npy", Array{{model.shape().directions(), data.dimension}, data.teacher}});
  const LabelForm* form = model.label_form();
  if (form == nullptr) {
    files.push_back({"Y.npy", Array{{n, size}, std::move(rows)}});
    return files;
  }
  std::vector<std::size_t> shape = form->shape();
  shape.insert(shape.begin(), n);
  Array observed{shape, {}};
  const std::size_t entries = observed.size() / n;
  std::vector<double> y;
  numerics::lay_zeros(y, n * entries, context);
  numerics::for_each_until_stopped(n, context, [&](std::size_t i) {
    const auto label = std::span(rows).subspan(i * size, size);
    form->write(label, std::span(y).subspan(i * entries, entries));
    form->choose_representative(label);
  });
  observed.values = std::move(y);
  files.push_back({"Y.npy", std::move(observed)});
  if (form->keeps_description()) files.push_back({"H.npy", Array{{n, size}, std::move(rows)}});
  return files;
}

DataFiles find_data(const std::filesystem::path& folder, const SequenceModel& model) {
  const auto shape = io::read_shape(folder / "X.npy", input_extents(model));
  return {folder, shape[0], shape[2], io::is_there(folder / "truth" / "w.npy")};
}

Dataset read_data(const std::filesystem::path& folder, const SequenceModel& model) {
  const FieldShape& shape = model.shape();
  Dataset data;
  data.tokens = static_cast<std::size_t>(shape.tokens);
  auto inputs = io::read_reals(folder / "X.npy", input_extents(model));
  data.samples = inputs.shape[0];
  data.dimension = inputs.shape[2];
  data.inputs = std::move(inputs.values);
  check_second_moments(folder / "X.npy", model, data);
  data.labels = read_labels(folder, model, data.samples);
  mix_tokens(model.token_root(), true, data, {});
  if (io::is_there(folder / "truth" / "w.npy")) {
    data.teacher = read_teacher(folder / "truth" / "w.npy", shape.directions(), data.dimension);
  }
  return data;
}

}  // namespace onset::smi
