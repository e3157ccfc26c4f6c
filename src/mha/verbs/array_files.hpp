#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "mha/model/examples.hpp"
#include "mha/model/layer.hpp"
#include "onset/core/artifact.hpp"

/// The arrays of the family: examples X.npy (N x k x d, entries +-1, written as int8) and Y.npy
/// (the same shape), a layer theta.npy and w.npy (m x d x d).
namespace onset::mha {

/// The examples of a folder; a manifest.json of `mha generate` beside them must say their shape.
/// Throws IoError naming the file, what it has and what is needed.
[[nodiscard]] Examples read_examples(const std::filesystem::path& folder);
/// Throws IoError likewise.
[[nodiscard]] Layer read_layer(const std::filesystem::path& folder);

void add_examples(const Examples& examples, std::vector<Artifact>& artifacts);
/// theta.npy and w.npy under `prefix` (empty, or ending in a slash).
void add_layer(const Layer& layer, const std::string& prefix, std::vector<Artifact>& artifacts);

}  // namespace onset::mha
