#pragma once

#include <string>
#include <vector>

#include "onset/core/parameters.hpp"
#include "onset/smi/learners/text_training.hpp"

namespace onset::smi {

/// What the files of `smi text` hold.
struct TextFiles {
  std::vector<std::string> classes;  ///< in the order of the training file
  TextCorpus corpus;
};

/// Reads --train and --test. Throws IoError naming the file and the line.
[[nodiscard]] TextFiles read_text_files(const Parameters& parameters);

/// Puts the fingerprint of both files into --fingerprint, so that results are filed under what was
/// learned from (Verb::read_files). Throws InvalidArgument when another one was given.
void read_fingerprint(Parameters& parameters);

}  // namespace onset::smi
