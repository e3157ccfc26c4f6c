#pragma once

#include <filesystem>
#include <vector>

#include "onset/core/artifact.hpp"
#include "smi/model/dataset.hpp"

namespace onset::smi {

/// The files of a dataset: X.npy (samples x tokens x dimension), Y.npy (attention matrices, or the
/// numbers of a link's label), truth/w.npy (the teacher, one row per direction), and for attention
/// of rank one H.npy, the label as h up to its sign: a matrix in Y loses digits [smi 4].
/// Throws Interrupted.
[[nodiscard]] std::vector<Artifact> data_files(const SequenceModel& model, Dataset data,
                                               const Context& context);

/// The sizes of such a folder, by the header of X.npy alone: the arrays are read once it is known
/// that they fit into memory. Throws IoError as read_data() does.
struct DataFiles {
  std::filesystem::path folder;
  std::size_t samples = 0;
  std::size_t dimension = 0;
  bool has_teacher = false;
};
[[nodiscard]] DataFiles find_data(const std::filesystem::path& folder, const SequenceModel& model);

/// Reads such a folder; H.npy is used where it is there, else h is recovered from Y.npy. truth/ may
/// be missing. Throws IoError naming the file, and for shapes that do not fit the model.
[[nodiscard]] Dataset read_data(const std::filesystem::path& folder, const SequenceModel& model);

}  // namespace onset::smi
