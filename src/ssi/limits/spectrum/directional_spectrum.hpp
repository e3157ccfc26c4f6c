#pragma once

#include "onset/ssi/limits/spectrum.hpp"

namespace onset::ssi {

/// The directional test of [ssi 10], for targets of many tokens.
[[nodiscard]] Spectrum directional_spectrum(const Link& target, std::size_t degree,
                                            const SpectrumOptions& options, const Context& context);

}  // namespace onset::ssi
