#pragma once

#include <vector>

#include "onset/core/context.hpp"
#include "smi/learners/text_job.hpp"

namespace onset::smi {

/// What a job came to.
struct TextOutcome {
  std::vector<TextRun> runs;
  bool interrupted = false;  ///< the runs are what was finished by then
};

/// Starts the program that trains (onset-text, found beside the running program, in PATH, or where
/// ONSET_TEXT says) and reads what it writes as it comes. Throws IoError when there is no such
/// program or it fails.
[[nodiscard]] TextOutcome run_text_program(const TextJob& job, const Context& context);

}  // namespace onset::smi
