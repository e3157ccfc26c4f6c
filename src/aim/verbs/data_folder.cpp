#include "aim/verbs/data_folder.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "onset/core/error.hpp"
#include "onset/io/npy.hpp"

namespace onset::aim {
namespace {

std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string text;
  for (const std::size_t n : shape) text += (text.empty() ? "" : " x ") + std::to_string(n);
  return text;
}

void require_shape(const std::string& file, const Array& array,
                   const std::vector<std::size_t>& wanted) {
  if (array.shape == wanted) return;
  throw InvalidArgument("--data", file + " is " + shape_text(array.shape) +
                                      "; allowed for this model: " + shape_text(wanted));
}

std::vector<double> numbers(Array array) {
  if (auto* reals = std::get_if<std::vector<double>>(&array.values)) return std::move(*reals);
  return std::visit([](const auto& v) { return std::vector<double>(v.begin(), v.end()); },
                    array.values);
}

std::vector<std::size_t> label_shape(const AttentionIndexed& model, std::size_t samples) {
  const auto tokens = static_cast<std::size_t>(model.tokens);
  if (model.channel == ChannelKind::hardmax) return {samples, tokens};
  return {samples, tokens, tokens};
}

}  // namespace

std::vector<Artifact> data_files(const AttentionIndexed& model, Dataset data, Teacher teacher) {
  Array labels{label_shape(model, data.samples), {}};
  if (model.channel == ChannelKind::hardmax) {
    std::vector<std::int8_t> whole;
    for (const double y : data.labels) whole.push_back(static_cast<std::int8_t>(y));
    labels.values = std::move(whole);
  } else {
    labels.values = std::move(data.labels);
  }
  std::vector<Artifact> files;
  files.push_back({"X.npy", Array{{data.samples, data.tokens, data.dim}, std::move(data.inputs)}});
  files.push_back({"Y.npy", std::move(labels)});
  files.push_back({"truth/S.npy", Array{{teacher.dim, teacher.dim}, std::move(teacher.matrix)}});
  files.push_back({"truth/W.npy", Array{{teacher.dim, teacher.width}, std::move(teacher.weights)}});
  return files;
}

StoredData read_data(const AttentionIndexed& model, const std::string& folder) {
  const std::filesystem::path path(folder);
  Array x = io::read_npy(path / "X.npy");
  Array y = io::read_npy(path / "Y.npy");
  const auto tokens = static_cast<std::size_t>(model.tokens);
  if (x.shape.size() != 3) {
    throw InvalidArgument(
        "--data", "X.npy is " + shape_text(x.shape) + "; allowed: samples x tokens x dimension");
  }
  StoredData stored;
  stored.data.samples = x.shape[0];
  stored.data.tokens = tokens;
  stored.data.dim = x.shape[2];
  require_shape("X.npy", x, {x.shape[0], tokens, x.shape[2]});
  require_shape("Y.npy", y, label_shape(model, x.shape[0]));
  if (x.shape[0] == 0 || x.shape[2] < 2) {
    throw InvalidArgument("--data", "X.npy is " + shape_text(x.shape) +
                                        "; allowed: one sample or more, two dimensions or more");
  }
  stored.data.inputs = numbers(std::move(x));
  stored.data.labels = numbers(std::move(y));
  if (!std::all_of(stored.data.inputs.begin(), stored.data.inputs.end(),
                   [](double value) { return std::isfinite(value); })) {
    throw InvalidArgument("--data", "X.npy has entries that are not finite; allowed: numbers");
  }
  const auto truth = path / "truth" / "S.npy";
  if (std::filesystem::exists(truth)) {
    Array s = io::read_npy(truth);
    require_shape("truth/S.npy", s, {stored.data.dim, stored.data.dim});
    stored.truth = numbers(std::move(s));
  }
  return stored;
}

}  // namespace onset::aim
