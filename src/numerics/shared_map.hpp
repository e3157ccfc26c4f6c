#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "onset/core/context.hpp"

namespace onset::numerics {

/// Processes that run the same call at the same time, say on several machines, and share its large
/// loops. Between these loops each of them does everything, with the same numbers, so that all come
/// to the same loops in the same order.
class Peers {
 public:
  virtual ~Peers() = default;
  [[nodiscard]] virtual std::size_t rank() const = 0;
  [[nodiscard]] virtual std::size_t count() const = 0;
  /// What every process says, in the order of ranks. All of them call it, from the thread of the
  /// run. Throws Interrupted when another one was stopped.
  [[nodiscard]] virtual std::vector<std::string> exchange(const std::string& own) = 0;
};

/// While it lives, this thread shares its loops with others; with nobody if there is none. In a
/// body of parallel_for there is none.
class WithPeers {
 public:
  explicit WithPeers(Peers* peers);
  ~WithPeers();
  WithPeers(const WithPeers&) = delete;
  WithPeers& operator=(const WithPeers&) = delete;

 private:
  Peers* before_;
};

/// f(0), .., f(count-1), computed as parallel_for does. With peers each process computes its share
/// and receives those of the others, the same bits as if it were alone. What f throws is thrown by
/// all processes.
[[nodiscard]] std::vector<std::vector<double>> shared_map(
    const Context& context, std::size_t count,
    const std::function<std::vector<double>(std::size_t)>& f);

}  // namespace onset::numerics
