#include "numerics/shared_map.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "numerics/parallel.hpp"
#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

thread_local Peers* peers_of_thread = nullptr;

using Slots = std::vector<std::vector<double>>;

/// How the share of a process ended, the first letter of what it says.
enum class Ended : char { well = 'w', stopped = 's', badly = 'b' };

/// Indices of a process: every so many, since neighbours often take as long.
std::vector<std::size_t> share(std::size_t count, std::size_t rank, std::size_t processes) {
  std::vector<std::size_t> own;
  for (std::size_t i = rank; i < count; i += processes) own.push_back(i);
  return own;
}

std::string packed(const Slots& slots, const std::vector<std::size_t>& indices) {
  std::string text;
  for (const std::size_t i : indices) {
    const std::size_t size = slots[i].size();
    text.append(reinterpret_cast<const char*>(&size), sizeof size);
    text.append(reinterpret_cast<const char*>(slots[i].data()), size * sizeof(double));
  }
  return text;
}

void unpack(std::string_view text, const std::vector<std::size_t>& indices, Slots& slots) {
  for (const std::size_t i : indices) {
    std::size_t size = 0;
    std::memcpy(&size, text.data(), sizeof size);
    text.remove_prefix(sizeof size);
    slots[i].resize(size);
    if (size > 0) std::memcpy(slots[i].data(), text.data(), size * sizeof(double));
    text.remove_prefix(size * sizeof(double));
  }
}

Slots map_alone(const Context& context, std::size_t count,
                const std::function<std::vector<double>(std::size_t)>& f) {
  Slots slots(count);
  parallel_for(context, count, [&](std::size_t i) { slots[i] = f(i); });
  return slots;
}

}  // namespace

WithPeers::WithPeers(Peers* peers) : before_(peers_of_thread) {
  peers_of_thread = peers;
}

WithPeers::~WithPeers() {
  peers_of_thread = before_;
}

std::vector<std::vector<double>> shared_map(
    const Context& context, std::size_t count,
    const std::function<std::vector<double>(std::size_t)>& f) {
  if (peers_of_thread == nullptr) return map_alone(context, count, f);
  Peers& peers = *peers_of_thread;
  Slots slots(count);
  const std::vector<std::size_t> own = share(count, peers.rank(), peers.count());
  Ended ended = Ended::well;
  try {
    parallel_for(context, own.size(), [&](std::size_t k) { slots[own[k]] = f(own[k]); });
  } catch (const Interrupted&) {
    ended = Ended::stopped;
  } catch (...) {
    ended = Ended::badly;
  }
  const std::string body = ended == Ended::well ? packed(slots, own) : std::string();
  const std::vector<std::string> said = peers.exchange(static_cast<char>(ended) + body);
  const auto any = [&said](Ended how) {
    return std::any_of(said.begin(), said.end(), [how](const std::string& text) {
      return text[0] == static_cast<char>(how);
    });
  };
  if (any(Ended::stopped)) throw Interrupted();
  // Whoever computes everything comes upon the same exception, wherever it was thrown.
  if (any(Ended::badly)) return map_alone(context, count, f);
  for (std::size_t rank = 0; rank < said.size(); ++rank) {
    if (rank == peers.rank()) continue;
    unpack(std::string_view(said[rank]).substr(1), share(count, rank, said.size()), slots);
  }
  return slots;
}

}  // namespace onset::numerics
