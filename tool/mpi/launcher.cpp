#include <cstdlib>

#include "tool/mpi/session.hpp"

namespace onset::tool {

bool started_by_launcher() {
  // Open MPI, then MPICH and its kin. Slurm with PMIx tells the rank only.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"}) {
    if (const char* size = std::getenv(name)) return std::atoi(size) > 1;
  }
  return std::getenv("PMIX_RANK") != nullptr;
}

}  // namespace onset::tool
