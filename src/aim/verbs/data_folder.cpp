#include "aim/verbs/data_folder.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "aim/verbs/model_options.hpp"
#include "aim/verbs/run_options.hpp"
#include "onset/core/error.hpp"
#include "onset/io/npy.hpp"
#include "onset/io/run_folder.hpp"

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

/// Logarithms of stored probabilities; those that were rounded to 0 (or to the few digits below the
/// smallest normal number) have lost their scores.
std::vector<double> logarithms(std::vector<double> y, std::size_t each) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (!(y[i] >= std::numeric_limits<double>::min() && y[i] <= 1.0 + 1e-4)) {
      throw InvalidArgument("--data", "Y.npy has the probability " + to_text(Value(y[i])) +
                                          " in sample " + std::to_string(i / each) +
                                          "; allowed: probabilities that were not rounded to 0, or "
                                          "their logarithms in logY.npy");
    }
    y[i] = std::log(y[i]);
  }
  return y;
}

void require_agreement(const std::vector<double>& logs, const std::vector<double>& y) {
  constexpr double single_precision = 1e-6;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (std::abs(std::exp(logs[i]) - y[i]) <= single_precision) continue;
    throw InvalidArgument("--data", "Y.npy and logY.npy contradict each other at number " +
                                        std::to_string(i) +
                                        "; allowed: one of them, or the same labels");
  }
}

std::vector<double> read_labels(const AttentionIndexed& model, const std::filesystem::path& folder,
                                std::size_t samples) {
  const auto shape = label_shape(model, samples);
  const auto read = [&](const char* name) {
    Array array = io::read_npy(folder / name);
    require_shape(name, array, shape);
    return numbers(std::move(array));
  };
  if (model.channel != ChannelKind::softmax) return read("Y.npy");
  const auto each = static_cast<std::size_t>(model.tokens * model.tokens);
  if (!std::filesystem::exists(folder / "logY.npy")) return logarithms(read("Y.npy"), each);
  std::vector<double> logs = read("logY.npy");
  if (std::filesystem::exists(folder / "Y.npy")) require_agreement(logs, read("Y.npy"));
  return logs;
}

/// A parameter's value in a manifest, checked like the option.
Value said_by_manifest(const Parameter& parameter, const std::map<std::string, Value>& all) {
  const auto wrong = [&](const std::string& what) {
    return InvalidArgument("--data", "manifest.json " + what + " `" + parameter.name +
                                         "`; allowed: " + parameter.allowed());
  };
  const auto found = all.find(parameter.name);
  if (found == all.end()) throw wrong("has no value of");
  Value value = found->second;
  if (const auto* whole = std::get_if<std::int64_t>(&value);
      whole != nullptr && parameter.kind == ParameterKind::real) {
    value = static_cast<double>(*whole);
  }
  try {
    check_value(parameter, value);
  } catch (const InvalidArgument&) {
    throw wrong("has the value " + to_text(value) + " of");
  }
  return value;
}

void require_finite(const char* file, const std::vector<double>& values) {
  if (std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); })) return;
  throw InvalidArgument("--data",
                        std::string(file) + " has entries that are not finite; allowed: numbers");
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
  if (model.channel == ChannelKind::softmax) {
    files.push_back({"logY.npy", labels});
    for (double& y : std::get<std::vector<double>>(labels.values)) y = std::exp(y);
  }
  files.push_back({"Y.npy", std::move(labels)});
  files.push_back({"truth/S.npy", Array{{teacher.dim, teacher.dim}, std::move(teacher.matrix)}});
  files.push_back({"truth/W.npy", Array{{teacher.dim, teacher.width}, std::move(teacher.weights)}});
  return files;
}

std::optional<StoredShape> stored_shape(const std::string& folder) {
  try {
    const auto shape = io::read_npy_shape(std::filesystem::path(folder) / "X.npy");
    if (shape.size() != 3) return std::nullopt;
    const auto real = [](std::size_t n) { return static_cast<double>(n); };
    return StoredShape{real(shape[0]), real(shape[1]), real(shape[2])};
  } catch (const IoError&) {
    return std::nullopt;
  }
}

void take_from_manifest(const std::string& folder, Parameters& parameters) {
  const auto identity = io::read_run_identity(folder);
  if (!identity) return;
  if (identity->command != "aim generate" && identity->command != "aim amp") {
    throw InvalidArgument("--data", folder + " was written by `" + identity->command +
                                        "`; allowed: a folder of `aim generate`, or one without "
                                        "manifest.json");
  }
  std::vector<Parameter> wanted = model_parameters();
  wanted.push_back(dim_parameter({}));
  for (const Parameter& parameter : wanted) {
    const std::string& name = parameter.name;
    // X.npy has the dimension too, and folders of one's own need not say it.
    if (name == "dim" && !identity->parameters.contains(name)) continue;
    const Value said = said_by_manifest(parameter, identity->parameters);
    if (!parameters.has(name)) {
      parameters.set(name, said);
    } else if (to_text(parameters.values().at(name)) != to_text(said)) {
      throw InvalidArgument("--" + name, to_text(parameters.values().at(name)) +
                                             " contradicts manifest.json of the data; allowed: " +
                                             to_text(said) + ", or leaving it out with --data");
    }
  }
}

StoredData read_data(const AttentionIndexed& model, const std::string& folder) {
  const std::filesystem::path path(folder);
  Array x = io::read_npy(path / "X.npy");
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
  if (x.shape[0] == 0 || x.shape[2] < 2) {
    throw InvalidArgument("--data", "X.npy is " + shape_text(x.shape) +
                                        "; allowed: one sample or more, two dimensions or more");
  }
  stored.data.inputs = numbers(std::move(x));
  stored.data.labels = read_labels(model, path, stored.data.samples);
  require_finite("X.npy", stored.data.inputs);
  const auto truth = path / "truth" / "S.npy";
  if (std::filesystem::exists(truth)) {
    Array s = io::read_npy(truth);
    require_shape("truth/S.npy", s, {stored.data.dim, stored.data.dim});
    stored.truth = numbers(std::move(s));
    require_finite("truth/S.npy", stored.truth);
  }
  return stored;
}

}  // namespace onset::aim
