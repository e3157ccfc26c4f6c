#pragma once

#include <string_view>
#include <vector>

/// The label channels; docs/aim-channels.md says what a new one needs.
namespace onset::aim {

class Channel;

[[nodiscard]] const Channel& softmax_channel();
[[nodiscard]] const Channel& hardmax_channel();
[[nodiscard]] const Channel& linear_channel();

/// All of them, in the order of the help; the first one is the default.
[[nodiscard]] const std::vector<const Channel*>& channels();

/// Throws InvalidArgument naming `channel` where there is none of that name.
[[nodiscard]] const Channel& channel_named(std::string_view name);

}  // namespace onset::aim
