#pragma once

#include <functional>

#include "smi/learners/text_job.hpp"

namespace onset::text {

/// Trains one run and reports what happens as it happens; similarities follow at its end, once
/// there are final weights. It uses one thread, so that equal jobs give equal bits.
void train(const smi::TextJob& job, std::int64_t run,
           const std::function<void(const smi::TextMessage&)>& tell);

/// Keeps LibTorch from starting threads of its own; to be called once, before anything else.
void use_one_thread();

}  // namespace onset::text
