#pragma once

#include <string>
#include <vector>

#include "onset/aim/model/attention_indexed.hpp"
#include "onset/aim/model/data.hpp"
#include "onset/core/artifact.hpp"
#include "onset/core/parameters.hpp"

namespace onset::aim {

/// The files of a data set: X.npy (n x T x d), Y.npy (labels; softmax as probabilities, with their
/// logarithms in logY.npy), truth/S.npy (d x d), truth/W.npy.
[[nodiscard]] std::vector<Artifact> data_files(const AttentionIndexed& model, Dataset data,
                                               Teacher teacher);

/// Size of the folder's X.npy; 0 when there is none.
[[nodiscard]] double stored_bytes(const std::string& folder);

/// A data set and, where the folder has it, the truth (else empty).
struct StoredData {
  Dataset data;
  std::vector<double> truth;
};

/// Gives parameters without a value the one that the folder's manifest has (channel, tokens, rho,
/// beta, noise, noise-kind, and dim). Throws InvalidArgument naming one that contradicts it.
void take_from_manifest(const std::string& folder, Parameters& parameters);

/// Reads what data_files() describes. Throws IoError for files that cannot be read and
/// InvalidArgument naming --data when shapes do not fit the model.
[[nodiscard]] StoredData read_data(const AttentionIndexed& model, const std::string& folder);

}  // namespace onset::aim
