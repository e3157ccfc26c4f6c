#pragma once

#include <cstdint>
#include <memory>

#include "aim/limits/flow/risk.hpp"

/// The kinds of risks, one file each.
namespace onset::aim {

[[nodiscard]] std::unique_ptr<const Risk> linear_risk(const FlowModel& model);
/// Two tokens.
[[nodiscard]] std::unique_ptr<const Risk> pair_squared_risk(const FlowModel& model,
                                                            Precision precision);
[[nodiscard]] std::unique_ptr<const Risk> pair_cross_entropy_risk(const FlowModel& model,
                                                                  Precision precision);
[[nodiscard]] std::unique_ptr<const Risk> pair_hardmax_risk(const FlowModel& model,
                                                            Precision precision);
/// Three tokens and more.
[[nodiscard]] std::unique_ptr<const Risk> many_squared_risk(const FlowModel& model,
                                                            Precision precision,
                                                            std::uint64_t seed);
[[nodiscard]] std::unique_ptr<const Risk> many_cross_entropy_risk(const FlowModel& model,
                                                                  Precision precision,
                                                                  std::uint64_t seed);

}  // namespace onset::aim
