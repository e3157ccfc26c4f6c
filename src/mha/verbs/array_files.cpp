#include "mha/verbs/array_files.hpp"

#include <fmt/format.h>

#include "core/printable.hpp"
#include "core/suggestion.hpp"
#include "io/arrays.hpp"
#include "onset/core/error.hpp"
#include "onset/io/run_folder.hpp"

namespace onset::mha {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_file_tokens = 1024;

/// The manifest that lies beside examples. One of another command is not about them: a model may
/// lie in the same folder.
std::optional<io::RunIdentity> find_manifest(const fs::path& folder) {
  auto identity = io::read_run_identity(folder);
  if (identity && identity->command != "mha generate") identity.reset();
  return identity;
}

void compare_with_manifest(const fs::path& folder, const io::RunIdentity& identity,
                           const std::vector<std::size_t>& shape) {
  const char* const axes[] = {"samples", "tokens", "dim"};
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const auto said = identity.parameters.find(axes[axis]);
    if (said == identity.parameters.end() ||
        said->second == Value(static_cast<std::int64_t>(shape[axis]))) {
      continue;
    }
    throw IoError((folder / "X.npy").string(),
                  fmt::format("has the shape {}, but manifest.json beside it says {} {}",
                              io::shape_text(shape), to_text(said->second), axes[axis]));
  }
}

/// Manifests of earlier versions say nothing of inputs: they were Boolean.
Inputs inputs_of(const fs::path& folder, const io::RunIdentity& identity) {
  const auto said = identity.parameters.find("inputs");
  if (said == identity.parameters.end()) return Inputs::boolean;
  std::vector<std::string> words;
  for (const Inputs inputs : {Inputs::boolean, Inputs::gaussian}) {
    words.emplace_back(to_string(inputs));
    if (said->second == Value(words.back())) return inputs;
  }
  const std::string word = to_text(said->second);
  throw IoError((folder / "manifest.json").string(),
                fmt::format("has the value {} of 'inputs'; allowed: {}{}", in_quotes(word),
                            fmt::join(words, " or "), suggestion(word, words)));
}

std::vector<std::size_t> shape_of(const Examples& examples) {
  return {examples.count, static_cast<std::size_t>(examples.tokens),
          static_cast<std::size_t>(examples.dim)};
}

}  // namespace

ExampleFiles find_examples(const fs::path& folder, std::optional<Inputs> inputs) {
  const fs::path path = folder / "X.npy";
  const std::vector<std::size_t> shape = io::read_shape(path, {{"examples"}, {"tokens"}, {"dim"}});
  if (shape[1] > max_file_tokens || shape[2] > static_cast<std::size_t>(max_dim)) {
    throw IoError(path.string(),
                  fmt::format("has the shape {}; allowed: up to {} tokens of dimension up to {}",
                              io::shape_text(shape), max_file_tokens, max_dim));
  }
  Inputs found = Inputs::boolean;
  if (const auto identity = find_manifest(folder)) {
    compare_with_manifest(folder, *identity, shape);
    found = inputs_of(folder, *identity);
  }
  return {folder, shape[0], static_cast<int>(shape[1]), static_cast<int>(shape[2]),
          inputs.value_or(found)};
}

Examples read_examples(const ExampleFiles& files) {
  const io::Extents wanted{{"examples", files.count},
                           {"tokens", static_cast<std::size_t>(files.tokens)},
                           {"dim", static_cast<std::size_t>(files.dim)}};
  Examples out{files.count, files.tokens, files.dim, {}, {}};
  if (files.inputs == Inputs::gaussian) {
    out.real_x = io::read_reals(files.folder / "X.npy", wanted).values;
  } else {
    out.x = io::read_signs(files.folder / "X.npy", wanted,
                           "1 and -1, or real numbers with `inputs = gaussian`")
                .values;
  }
  out.y = io::read_reals(files.folder / "Y.npy", wanted).values;
  return out;
}

Layer read_layer(const fs::path& folder) {
  const fs::path path = folder / "theta.npy";
  io::ArrayOf<double> theta = io::read_reals(path, {{"heads"}, {"dim"}, {"dim"}});
  const std::size_t heads = theta.shape[0];
  const std::size_t dim = theta.shape[1];
  if (theta.shape[2] != dim || heads > static_cast<std::size_t>(max_heads) ||
      dim > static_cast<std::size_t>(max_dim)) {
    throw IoError(
        path.string(),
        fmt::format("has the shape {}; allowed: up to {} square matrices of size up to {}",
                    io::shape_text(theta.shape), max_heads, max_dim));
  }
  io::ArrayOf<double> w =
      io::read_reals(folder / "w.npy", {{"heads", heads}, {"dim", dim}, {"dim", dim}});
  return {static_cast<int>(heads), static_cast<int>(dim), std::move(theta.values),
          std::move(w.values)};
}

void add_examples(const Examples& examples, std::vector<Artifact>& artifacts) {
  if (examples.real()) {
    artifacts.push_back({"X.npy", Array{shape_of(examples), examples.real_x}});
  } else {
    artifacts.push_back({"X.npy", Array{shape_of(examples), examples.x}});
  }
  artifacts.push_back({"Y.npy", Array{shape_of(examples), examples.y}});
}

void add_layer(const Layer& layer, const std::string& prefix, std::vector<Artifact>& artifacts) {
  const std::vector<std::size_t> shape{static_cast<std::size_t>(layer.heads),
                                       static_cast<std::size_t>(layer.dim),
                                       static_cast<std::size_t>(layer.dim)};
  artifacts.push_back({prefix + "theta.npy", Array{shape, layer.theta}});
  artifacts.push_back({prefix + "w.npy", Array{shape, layer.w}});
}

}  // namespace onset::mha
