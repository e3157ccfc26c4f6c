#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onset::tool {

/// The processes that mpirun started together, and the letters between them. Only session.cpp calls
/// MPI itself, and all calls come from the thread that joined.
class MpiSession {
 public:
  /// Returns nothing unless a launcher started this process together with others. Throws
  /// InvalidArgument when it did and this build has no MPI.
  [[nodiscard]] static std::unique_ptr<MpiSession> join();
  virtual ~MpiSession() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// The share of this process in the processors that it and its neighbours on the machine may use.
  [[nodiscard]] virtual int fair_threads() const = 0;

  /// The text of rank 0, on all ranks; all of them must call it.
  [[nodiscard]] virtual std::string broadcast(std::string text) = 0;

  /// The texts of all ranks, in their order; all of them must call it.
  [[nodiscard]] virtual std::vector<std::string> gather(const std::string& own) = 0;

  struct Letter {
    int from = 0;
    char kind = 0;
    std::string text;
  };
  virtual void send(int to, char kind, std::string_view text) = 0;
  /// A letter that has arrived, if there is one; does not wait.
  [[nodiscard]] virtual std::optional<Letter> receive() = 0;

  /// This process is to end without waiting for the others, one of which is dead.
  virtual void leave_early() = 0;

  /// Ends all processes at once.
  [[noreturn]] virtual void abort(int code) = 0;
};

/// Whether this build can speak to processes on other machines.
[[nodiscard]] bool has_mpi();

/// Whether the environment says that a launcher started several processes.
[[nodiscard]] bool started_by_launcher();

}  // namespace onset::tool
