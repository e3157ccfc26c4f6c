#pragma once

#include <optional>
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

/// What X.npy holds, from its header alone; nothing when there is no such file of three axes.
struct StoredShape {
  double samples = 0.0;
  double tokens = 0.0;
  double dim = 0.0;
};
[[nodiscard]] std::optional<StoredShape> stored_shape(const std::string& folder);

/// A data set and, where the folder has it, the truth (else empty).
struct StoredData {
  Dataset data;
  std::vector<double> truth;
};

/// Gives parameters without a value the one that the folder's manifest has (channel, tokens, rho,
/// beta, noise, noise-kind, and dim), held to what the options allow. Throws InvalidArgument naming
/// one that contradicts it or is missing or wrong there.
void take_from_manifest(const std::string& folder, Parameters& parameters);

/// Reads what data_files() describes. Throws IoError for files that cannot be read and
/// InvalidArgument naming --data when shapes do not fit the model.
[[nodiscard]] StoredData read_data(const AttentionIndexed& model, const std::string& folder);

}  // namespace onset::aim
