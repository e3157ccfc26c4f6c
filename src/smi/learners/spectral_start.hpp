#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "smi/learners/message_passing.hpp"
#include "smi/limits/spectral_law.hpp"

namespace onset::smi {

/// From this sample ratio on a block's eigenvectors are taken for more than chance: alpha_c
/// (1 + D^{-1/3}).
[[nodiscard]] double informative_ratio(double growth, std::size_t dimension);

/// The start of message passing from the eigenvectors of the symmetric method, with the fields of
/// the cavity [links 41]: the fields X w of an eigenvector have seen their own labels. `directions`
/// are those of the model in every block of the law, `excess` is G of the samples. Blocks with a
/// mean, whose sign an eigenvector does not show, and blocks below informative_ratio() are left
/// out; nothing where no block is left.
[[nodiscard]] std::optional<MessageStart> spectral_start(
    const SpectralLaw& law, const std::vector<std::vector<std::size_t>>& directions,
    const SampleExcess& excess, const Dataset& data, std::uint64_t seed, const Context& context);

}  // namespace onset::smi
