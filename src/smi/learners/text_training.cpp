#include "smi/learners/text_training.hpp"

namespace onset::smi {

std::int64_t total_steps(const TextOptions& options, std::size_t training_questions) {
  const auto questions = static_cast<std::int64_t>(training_questions);
  return options.epochs * ((questions + options.batch - 1) / options.batch);
}

}  // namespace onset::smi
