#pragma once

/// Everything that a program needs to use Onset; docs/cpp.md walks through examples/.
///
///   const onset::Result result = onset::smi::Thresholds{.layers = 3}.run({.threads = 4});
///   std::fputs(onset::io::to_table(result).c_str(), stdout);

#include "onset/aim.hpp"
#include "onset/catalog.hpp"
#include "onset/core/error.hpp"
#include "onset/io/format.hpp"
#include "onset/io/npy.hpp"
#include "onset/io/run_folder.hpp"
#include "onset/mha.hpp"
#include "onset/smi.hpp"
#include "onset/ssi.hpp"
#include "onset/study/sweep.hpp"
#include "onset/version.hpp"
