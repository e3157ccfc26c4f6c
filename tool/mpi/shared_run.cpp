#include "tool/mpi/shared_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "numerics/simd/vector_math.hpp"
#include "onset/core/error.hpp"

namespace onset::tool {
namespace {

// The first letter of what a rank says.
constexpr char loop_letter = 'l';   ///< its share of a loop follows
constexpr char leave_letter = 'e';  ///< its run is over; the reason follows, if it ended badly

}  // namespace

std::unique_ptr<SharedRun> SharedRun::join() {
  if (!has_mpi()) return nullptr;
  auto session = MpiSession::join();
  if (!session) return nullptr;
  // All ranks must use one instruction set, or their bits would differ.
  const std::string own = session->rank() == 0 ? numerics::simd::level() : std::string();
  const std::string level = session->broadcast(own);
  if (session->rank() > 0) setenv("ONSET_SIMD", level.c_str(), 1);
  return std::unique_ptr<SharedRun>(new SharedRun(std::move(session)));
}

SharedRun::SharedRun(std::unique_ptr<MpiSession> session) : session_(std::move(session)) {}

SharedRun::~SharedRun() {
  leave("it ended");
}

std::size_t SharedRun::rank() const {
  return static_cast<std::size_t>(session_->rank());
}

std::size_t SharedRun::count() const {
  return static_cast<std::size_t>(session_->size());
}

int SharedRun::fair_threads() const {
  return std::min(session_->fair_threads(), available_threads());
}

std::vector<std::string> SharedRun::exchange(const std::string& own) {
  if (over_) throw Interrupted();
  shared_ = true;
  std::vector<std::string> said = session_->gather(loop_letter + own);
  for (std::size_t k = 0; k < said.size(); ++k) {
    if (said[k][0] == loop_letter) {
      said[k].erase(0, 1);
      continue;
    }
    // Nobody answers from now on.
    over_ = true;
    if (rank() > 0 || said[k].size() == 1) throw Interrupted();
    throw IoError("mpi", fmt::format("rank {}: {}", k, said[k].substr(1)));
  }
  return said;
}

void SharedRun::leave(const std::string& problem) {
  if (over_) return;
  over_ = true;
  (void)session_->gather(leave_letter + problem);
}

}  // namespace onset::tool
