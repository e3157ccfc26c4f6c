#pragma once

#include <memory>
#include <string>
#include <vector>

#include "numerics/shared_map.hpp"
#include "tool/mpi/session.hpp"

namespace onset::tool {

/// One call that all ranks run together: rank 0 prints, the others compute for it. A rank that ends
/// its run earlier than the others, for whatever reason, ends theirs too.
class SharedRun final : public numerics::Peers {
 public:
  /// Returns nothing unless a launcher started this process together with others and this build has
  /// MPI. All ranks then use the instruction set of rank 0.
  [[nodiscard]] static std::unique_ptr<SharedRun> join();
  ~SharedRun() override;
  SharedRun(const SharedRun&) = delete;
  SharedRun& operator=(const SharedRun&) = delete;

  [[nodiscard]] std::size_t rank() const override;
  [[nodiscard]] std::size_t count() const override;
  [[nodiscard]] std::vector<std::string> exchange(const std::string& own) override;

  /// The threads of this rank where none were asked for: its share of its machine.
  [[nodiscard]] int fair_threads() const;
  /// Whether any loop was shared so far.
  [[nodiscard]] bool has_shared() const { return shared_; }
  /// Tells the others that this rank's run is over; `problem` is empty where it ended as it should.
  void leave(const std::string& problem);

 private:
  explicit SharedRun(std::unique_ptr<MpiSession> session);

  std::unique_ptr<MpiSession> session_;
  bool over_ = false;
  bool shared_ = false;
};

}  // namespace onset::tool
