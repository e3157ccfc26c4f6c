#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "mha/model/certificate.hpp"
#include "mha/model/examples.hpp"
#include "mha/model/layer.hpp"
#include "onset/core/artifact.hpp"

/// The files of the family: examples X.npy (int8, N x k x d, entries +-1) and Y.npy (float64), a
/// layer theta.npy and w.npy (float64, m x d x d), and certificate.json.
namespace onset::mha {

/// Throws IoError naming the file and what is wrong with it.
[[nodiscard]] Examples read_examples(const std::filesystem::path& folder);
[[nodiscard]] Layer read_layer(const std::filesystem::path& folder);
/// Bytes of the examples' files; 0 when they are not there.
[[nodiscard]] double example_bytes(const std::filesystem::path& folder);

void add_examples(const Examples& examples, std::vector<Artifact>& artifacts);
/// theta.npy and w.npy under `prefix` (empty, or ending in a slash).
void add_layer(const Layer& layer, const std::string& prefix, std::vector<Artifact>& artifacts);

[[nodiscard]] std::string certificate_text(const Certificate& certificate);
/// Strict: throws IoError naming the field that is missing, unknown, or of a wrong kind.
[[nodiscard]] Certificate read_certificate(const std::filesystem::path& folder);
[[nodiscard]] std::string certificate_path(const std::filesystem::path& folder);

}  // namespace onset::mha
