// The build without MPI; session.cpp takes its place in the other one.
#include "onset/core/error.hpp"
#include "tool/mpi/session.hpp"

namespace onset::tool {

bool has_mpi() {
  return false;
}

std::unique_ptr<MpiSession> MpiSession::join() {
  if (!started_by_launcher()) return nullptr;
  throw InvalidArgument("sweep",
                        "was started by an MPI launcher, but this Onset was built without MPI; "
                        "allowed: one process, or --shard");
}

}  // namespace onset::tool
