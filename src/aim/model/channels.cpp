#include "aim/model/channels.hpp"

#include <string>

#include "aim/model/channel.hpp"
#include "onset/core/error.hpp"

namespace onset::aim {

const std::vector<const Channel*>& channels() {
  static const std::vector<const Channel*> all{
      &softmax_channel(),
      &hardmax_channel(),
      &linear_channel(),
  };
  return all;
}

const Channel& channel_named(std::string_view name) {
  std::string names;
  for (const Channel* channel : channels()) {
    if (channel->name() == name) return *channel;
    names += (names.empty() ? "" : ", ") + std::string(channel->name());
  }
  throw InvalidArgument("channel", std::string(name) + " is no channel; allowed: " + names);
}

}  // namespace onset::aim
