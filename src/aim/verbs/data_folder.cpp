#include "aim/verbs/data_folder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "aim/model/channel.hpp"
#include "aim/verbs/model_fields.hpp"
#include "aim/verbs/sizes.hpp"
#include "core/prose.hpp"
#include "io/arrays.hpp"
#include "io/data_manifest.hpp"
#include "io/file_status.hpp"
#include "numerics/zeros.hpp"

namespace onset::aim {
namespace {

namespace fs = std::filesystem;

/// Logarithms of stored probabilities; those that were rounded to 0 (or to the few digits below the
/// smallest normal number) have lost their scores.
void take_logarithms(const fs::path& file, io::ArrayOf<double>& y) {
  constexpr double single_precision = 1e-4;
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    double& value = y.values[i];
    if (!(value >= std::numeric_limits<double>::min() && value <= 1.0 + single_precision)) {
      throw IoError(file.string(), prose(R"(
          {} is {}; allowed: probabilities that were not rounded to 0, or their logarithms in
          logY.npy)",
                                         io::entry_text(i, y.shape), to_text(Value(value))));
    }
    value = std::log(value);
  }
}

void require_agreement(const fs::path& file, const io::ArrayOf<double>& logs,
                       const io::ArrayOf<double>& y) {
  constexpr double single_precision = 1e-6;
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    if (std::abs(std::exp(logs.values[i]) - y.values[i]) <= single_precision) continue;
    throw IoError(file.string(), prose(R"(
        {} is {}, and logY.npy says otherwise; allowed: one of the files, or the same labels in
        both)",
                                       io::entry_text(i, y.shape), to_text(Value(y.values[i]))));
  }
}

/// Labels as the channel has them in memory, and the file that they are from.
struct StoredLabels {
  fs::path file;
  std::vector<double> values;
};

StoredLabels read_labels(const AttentionIndexed& model, const fs::path& folder,
                         std::size_t samples) {
  io::Extents extents{{"samples", samples}};
  for (const std::size_t n : model.channel->label_shape(static_cast<std::size_t>(model.tokens))) {
    extents.push_back({"tokens", n});
  }
  const fs::path plain = folder / "Y.npy";
  const fs::path logarithms = folder / "logY.npy";
  if (model.channel->numbers() != LabelNumbers::logarithms) {
    return {plain, io::read_reals(plain, extents).values};
  }
  if (!io::is_there(logarithms)) {
    io::ArrayOf<double> y = io::read_reals(plain, extents);
    take_logarithms(plain, y);
    return {plain, std::move(y.values)};
  }
  io::ArrayOf<double> logs = io::read_reals(logarithms, extents);
  if (io::is_there(plain)) require_agreement(plain, logs, io::read_reals(plain, extents));
  return {logarithms, std::move(logs.values)};
}

/// Labels that no sample of the model can have are found by the output function.
void check_labels(const AttentionIndexed& model, const Dataset& data, const fs::path& file) {
  try {
    (void)model.channel->output(model, data);
  } catch (const InvalidArgument& error) {
    throw IoError(file.string(), error.what());
  }
}

/// Every field must be there, but for the noise: earlier versions wrote its variance as `noise`,
/// which is now the standard deviation beside `noise-variance`.
void require_model(const fs::path& folder, const std::vector<Parameter>& model) {
  const auto identity = io::read_run_identity(folder);
  if (!identity) return;
  const std::string file = (folder / "manifest.json").string();
  const auto& said = identity->parameters;
  for (const Parameter& parameter : model) {
    if (parameter.name == "noise-variance" || said.contains(parameter.name)) continue;
    throw IoError(file,
                  "has no value of '" + parameter.name + "'; allowed: " + parameter.allowed());
  }
  const auto noise = said.find("noise");
  if (said.contains("noise-variance") || noise == said.end()) return;
  if (to_text(noise->second) == to_text(Value(0.0))) return;
  throw IoError(file, prose(R"(
      has the value {} of 'noise', which was a variance in earlier versions; allowed: the variance
      as 'noise-variance', and no 'noise')",
                            to_text(noise->second)));
}

}  // namespace

std::vector<Artifact> data_files(const AttentionIndexed& model, Dataset data, Teacher teacher,
                                 const Context& context) {
  Array labels{model.channel->label_shape(data.tokens), {}};
  labels.shape.insert(labels.shape.begin(), data.samples);
  if (model.channel->numbers() == LabelNumbers::columns) {
    std::vector<std::int8_t> whole;
    whole.reserve(data.labels.size());
    numerics::for_each_until_stopped(data.labels.size(), context, [&](std::size_t i) {
      whole.push_back(static_cast<std::int8_t>(data.labels[i]));
    });
    labels.values = std::move(whole);
  } else {
    labels.values = std::move(data.labels);
  }
  std::vector<Artifact> files;
  files.push_back({"X.npy", Array{{data.samples, data.tokens, data.dim}, std::move(data.inputs)}});
  if (model.channel->numbers() == LabelNumbers::logarithms) {
    files.push_back({"logY.npy", labels});
    auto& y = std::get<std::vector<double>>(labels.values);
    numerics::for_each_until_stopped(y.size(), context,
                                     [&](std::size_t i) { y[i] = std::exp(y[i]); });
  }
  files.push_back({"Y.npy", std::move(labels)});
  files.push_back({"truth/S.npy", Array{{teacher.dim, teacher.dim}, std::move(teacher.matrix)}});
  files.push_back({"truth/W.npy", Array{{teacher.dim, teacher.width}, std::move(teacher.weights)}});
  return files;
}

namespace {

/// The square of a root is the variance up to rounding.
bool same_noise(const std::string& name, const Value& given, const Value& said) {
  if (name != "noise" && name != "noise-variance") return false;
  constexpr double rounding = 4.0 * std::numeric_limits<double>::epsilon();
  const double a = std::get<double>(given);
  const double b = std::get<double>(said);
  return std::abs(a - b) <= rounding * std::max(a, b);
}

}  // namespace

io::FromManifest take_from_manifest(const fs::path& folder, Amp& request) {
  Fields<Amp> fields = stored_model_fields<Amp>();
  const std::vector<Parameter> model = fields.parameters();
  // X.npy has the dimension too, and folders of one's own need not say it.
  fields.add("dim", &Amp::dim, dim_rule, dim_text);
  auto said =
      io::take_from_manifest(folder, {"aim generate", "aim amp"}, fields, request, same_noise);
  require_model(folder, model);
  return said;
}

DataFiles find_data(const AttentionIndexed& model, const fs::path& folder, std::size_t dim) {
  const auto tokens = static_cast<std::size_t>(model.tokens);
  const fs::path file = folder / "X.npy";
  const auto shape =
      io::read_shape(file, {{"samples", 0}, {"tokens", tokens}, {"dimensions", dim}});
  if (shape[2] < 2) {
    throw IoError(file.string(),
                  "has the shape " + io::shape_text(shape) + "; allowed: two dimensions or more");
  }
  return {folder, shape[0], shape[2]};
}

StoredData read_data(const AttentionIndexed& model, const DataFiles& files) {
  const auto& [folder, samples, dim] = files;
  const auto tokens = static_cast<std::size_t>(model.tokens);
  io::ArrayOf<double> x = io::read_reals(
      folder / "X.npy", {{"samples", samples}, {"tokens", tokens}, {"dimensions", dim}});
  StoredData stored;
  stored.data = {samples, tokens, dim, std::move(x.values), {}};
  StoredLabels labels = read_labels(model, folder, samples);
  stored.data.labels = std::move(labels.values);
  check_labels(model, stored.data, labels.file);
  const fs::path truth = folder / "truth" / "S.npy";
  if (io::is_there(truth)) {
    stored.truth = io::read_reals(truth, {{"dimensions", dim}, {"dimensions", dim}}).values;
  }
  return stored;
}

}  // namespace onset::aim
