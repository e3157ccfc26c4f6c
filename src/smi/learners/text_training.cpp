#include "onset/smi/learners/text_training.hpp"

namespace onset::smi {

std::int64_t total_steps(const TextOptions& options, const TextCorpus& corpus) {
  const auto questions = static_cast<std::int64_t>(corpus.train.size());
  return options.epochs * ((questions + options.batch - 1) / options.batch);
}

}  // namespace onset::smi
