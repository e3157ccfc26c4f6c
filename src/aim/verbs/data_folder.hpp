#pragma once

#include <filesystem>
#include <vector>

#include "aim/model/attention_indexed.hpp"
#include "aim/model/data.hpp"
#include "io/data_manifest.hpp"
#include "onset/aim.hpp"
#include "onset/core/artifact.hpp"

namespace onset::aim {

/// The files of a data set: X.npy (n x T x d), Y.npy (labels; probabilities with their logarithms
/// in logY.npy), truth/S.npy (d x d), truth/W.npy. Throws Interrupted.
[[nodiscard]] std::vector<Artifact> data_files(const AttentionIndexed& model, Dataset data,
                                               Teacher teacher, const Context& context);

/// Fills fields of the model, and `dim`, that were not given from the folder's manifest, if it has
/// one. Throws IoError for a manifest that cannot be used, and InvalidArgument for an option that
/// contradicts it.
io::FromManifest take_from_manifest(const std::filesystem::path& folder, Amp& request);

/// Where a data set lies, and its sizes.
struct DataFiles {
  std::filesystem::path folder;
  std::size_t samples = 0;
  std::size_t dim = 0;
};

/// The data of a folder, by the header of X.npy alone: the arrays are read once it is known that
/// they fit into memory. `dim` is that of the data, or 0 where it is not known. Throws IoError
/// naming the file, what it has and what is needed.
[[nodiscard]] DataFiles find_data(const AttentionIndexed& model,
                                  const std::filesystem::path& folder, std::size_t dim);

/// A data set and, where the folder has it, the truth (else empty).
struct StoredData {
  Dataset data;
  std::vector<double> truth;
};

/// Reads what data_files() describes, checked against the model. Throws IoError likewise.
[[nodiscard]] StoredData read_data(const AttentionIndexed& model, const DataFiles& files);

}  // namespace onset::aim
