#pragma once

#include <memory>
#include <optional>

#include "onset/study/sweep.hpp"
#include "tool/mpi/session.hpp"

namespace onset::tool {

/// The other ranks as rank 0 sees them: they wait until they get work or are sent home, which the
/// destructor does.
class MpiCrew {
 public:
  explicit MpiCrew(MpiSession& session) : session_(session) {}
  MpiCrew(const MpiCrew&) = delete;
  MpiCrew& operator=(const MpiCrew&) = delete;
  ~MpiCrew();

  /// The process_workers() of all ranks, this one included, each with `threads` threads (0 means
  /// its fair share of its machine).
  [[nodiscard]] std::unique_ptr<study::Workers> workers(const study::Plan& plan,
                                                        std::size_t points_to_do, int threads,
                                                        const Context& context,
                                                        std::optional<double> max_point_seconds);

 private:
  MpiSession& session_;
  bool at_work_ = false;
};

/// What the other ranks do: compute points for rank 0 until they are sent home. Returns the exit
/// code.
int serve(MpiSession& session);

/// The number of threads of this rank: what was asked for, or its fair share of the machine for 0.
[[nodiscard]] int rank_threads(const MpiSession& session, int asked);

}  // namespace onset::tool
