#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "onset/study/store.hpp"

namespace onset::explore {

/// Where a run of a verb stands.
struct RunState {
  double seconds = 0.0;
  std::string progress;  ///< what it reported last, say "40 %, alpha = 0.3"
  bool ended = false;
  bool stopped = false;  ///< it was asked to end before it was done
  /// The result of a run that has ended; until then, and of a run that was stopped, the rows so far
  /// if there are any.
  std::optional<study::PointRecord> record;
};

/// Runs of verbs beside the server. Functions may be called from several threads. Finished runs are
/// remembered for a while, the oldest forgotten first.
class Runs {
 public:
  virtual ~Runs() = default;
  /// Begins a run and returns its number, or nothing when too many are under way.
  [[nodiscard]] virtual std::optional<std::uint64_t> start(study::PointRecord begun) = 0;
  /// Waits for the end of a run, but no longer than that; nothing when no such run is known.
  [[nodiscard]] virtual std::optional<RunState> wait(std::uint64_t id,
                                                     std::chrono::milliseconds patience) = 0;
  /// Ends a run; false when no such run is known.
  virtual bool stop(std::uint64_t id) = 0;
  /// Ends all of them within half a second; none can be started any more.
  virtual void end() = 0;
};

/// Sweeps that were started from the page.
class Sweeps {
 public:
  virtual ~Sweeps() = default;
  /// Starts `onset sweep study --store store`; throws IoError when it cannot be started.
  virtual void start(const std::filesystem::path& study, const std::filesystem::path& store) = 0;
  /// Asks the sweep of that store to end; false when none is running.
  virtual bool stop(const std::filesystem::path& store) = 0;
  [[nodiscard]] virtual bool running(const std::filesystem::path& store) = 0;
  /// Ends all of them within half a second, as Ctrl-C does: what they finished is stored.
  virtual void end() = 0;
};

}  // namespace onset::explore
