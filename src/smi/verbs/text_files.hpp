#pragma once

#include <string>
#include <vector>

#include "onset/smi.hpp"
#include "smi/learners/text_training.hpp"

namespace onset::smi {

/// What the files of `smi text` hold.
struct TextFiles {
  std::vector<std::string> classes;  ///< in the order of the training file
  TextCorpus corpus;
  std::size_t longest = 0;  ///< words of the longest question
  std::string fingerprint;  ///< of both files: results are filed under what was learned from
};

/// Reads both files. Throws IoError naming the file and the line.
[[nodiscard]] TextFiles read_text_files(const Text& request);

}  // namespace onset::smi
