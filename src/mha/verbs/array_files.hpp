#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "mha/model/examples.hpp"
#include "mha/model/layer.hpp"
#include "onset/core/artifact.hpp"

/// The arrays of the family: examples X.npy (N x k x d, entries +-1 written as int8, or real ones)
/// and Y.npy (the same shape), a layer theta.npy and w.npy (m x d x d).
namespace onset::mha {

/// Where examples lie, and their shape.
struct ExampleFiles {
  std::filesystem::path folder;
  std::size_t count = 0;
  int tokens = 0;
  int dim = 0;
  Inputs inputs = Inputs::boolean;

  /// Entries of X.npy, and of Y.npy.
  [[nodiscard]] double entries() const { return static_cast<double>(count) * tokens * dim; }
};

/// The examples of a folder, by the header of X.npy alone: the arrays are read once it is known
/// that they fit into memory. A manifest.json of 'mha generate' beside them must say their shape.
/// Inputs are of the kind that is asked for; if none is, of that which the manifest says, and
/// Boolean without one. Throws IoError naming the file, what it has and what is needed.
[[nodiscard]] ExampleFiles find_examples(const std::filesystem::path& folder,
                                         std::optional<Inputs> inputs);
/// Throws IoError likewise.
[[nodiscard]] Examples read_examples(const ExampleFiles& files);
/// Throws IoError likewise.
[[nodiscard]] Layer read_layer(const std::filesystem::path& folder);

void add_examples(const Examples& examples, std::vector<Artifact>& artifacts);
/// theta.npy and w.npy under `prefix` (empty, or ending in a slash).
void add_layer(const Layer& layer, const std::string& prefix, std::vector<Artifact>& artifacts);

}  // namespace onset::mha
