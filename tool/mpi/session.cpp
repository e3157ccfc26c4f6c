#include "tool/mpi/session.hpp"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <list>
#include <stdexcept>

namespace onset::tool {
namespace {

/// A count in the type that MPI uses.
int count_of(std::size_t bytes) {
  if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw std::length_error("a message of more than 2 GiB");
  }
  return static_cast<int>(bytes);
}

class OpenSession final : public MpiSession {
 public:
  OpenSession() {
    int level = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    fair_threads_ = count_fair_threads();
  }
  OpenSession(const OpenSession&) = delete;
  OpenSession& operator=(const OpenSession&) = delete;
  ~OpenSession() override {
    if (leaves_early_) return;
    for (Sent& letter : sent_) MPI_Wait(&letter.request, MPI_STATUS_IGNORE);
    MPI_Finalize();
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] int fair_threads() const override { return fair_threads_; }

  [[nodiscard]] std::string broadcast(std::string text) override {
    std::uint64_t size = text.size();
    MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    text.resize(size);
    MPI_Bcast(text.data(), count_of(text.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    return text;
  }

  [[nodiscard]] std::vector<std::string> gather(const std::string& own) override {
    const auto ranks = static_cast<std::size_t>(size_);
    const int mine = count_of(own.size());
    std::vector<int> sizes(ranks);
    MPI_Allgather(&mine, 1, MPI_INT, sizes.data(), 1, MPI_INT, MPI_COMM_WORLD);
    std::vector<int> places(ranks);
    std::size_t total = 0;
    for (std::size_t k = 0; k < ranks; ++k) {
      places[k] = count_of(total);
      total += static_cast<std::size_t>(sizes[k]);
    }
    std::string all(static_cast<std::size_t>(count_of(total)), '\0');
    MPI_Allgatherv(own.data(), mine, MPI_CHAR, all.data(), sizes.data(), places.data(), MPI_CHAR,
                   MPI_COMM_WORLD);
    std::vector<std::string> texts;
    for (std::size_t k = 0; k < ranks; ++k) {
      texts.push_back(
          all.substr(static_cast<std::size_t>(places[k]), static_cast<std::size_t>(sizes[k])));
    }
    return texts;
  }

  void send(int to, char kind, std::string_view text) override {
    // A plain MPI_Send to a process that has died may wait forever.
    Sent& letter = sent_.emplace_back();
    letter.text = text;
    MPI_Isend(letter.text.data(), count_of(letter.text.size()), MPI_CHAR, to, kind, MPI_COMM_WORLD,
              &letter.request);
    sent_.remove_if([](Sent& old) {
      int arrived = 0;
      MPI_Test(&old.request, &arrived, MPI_STATUS_IGNORE);
      return arrived != 0;
    });
  }

  [[nodiscard]] std::optional<Letter> receive() override {
    int arrived = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status = {};
    MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, &message, &status);
    if (arrived == 0) return std::nullopt;
    int size = 0;
    MPI_Get_count(&status, MPI_CHAR, &size);
    Letter letter{status.MPI_SOURCE, static_cast<char>(status.MPI_TAG),
                  std::string(static_cast<std::size_t>(size), '\0')};
    MPI_Mrecv(letter.text.data(), size, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    return letter;
  }

  void leave_early() override { leaves_early_ = true; }

  [[noreturn]] void abort(int code) override {
    MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);
  }

 private:
  /// Launchers bind some ranks to processors of their own and leave others free to roam over all of
  /// them; the processors of all neighbours together, divided by their number, are right for both.
  static int count_fair_threads() {
    MPI_Comm neighbours = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &neighbours);
    int count = 1;
    MPI_Comm_size(neighbours, &count);
    cpu_set_t mine;
    cpu_set_t all;
    CPU_ZERO(&mine);
    CPU_ZERO(&all);
    sched_getaffinity(0, sizeof mine, &mine);
    MPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, neighbours);
    MPI_Comm_free(&neighbours);
    return std::max(1, CPU_COUNT(&all) / count);
  }

  /// A letter under way. A list keeps it in its place.
  struct Sent {
    std::string text;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::list<Sent> sent_;

  int rank_ = 0;
  int size_ = 1;
  int fair_threads_ = 1;
  bool leaves_early_ = false;
};

}  // namespace

bool has_mpi() {
  return true;
}

std::unique_ptr<MpiSession> MpiSession::join() {
  if (!started_by_launcher()) return nullptr;
  auto session = std::make_unique<OpenSession>();
  if (session->size() == 1) return nullptr;
  return session;
}

}  // namespace onset::tool
