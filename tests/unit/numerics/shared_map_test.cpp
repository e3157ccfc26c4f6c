#include "numerics/shared_map.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "numerics/parallel.hpp"
#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

/// Threads that sit together as processes would, and hear one another.
class Table {
 public:
  explicit Table(std::size_t seats) : said_(seats), barrier_(static_cast<std::ptrdiff_t>(seats)) {}

  class Seat final : public Peers {
   public:
    Seat(Table& table, std::size_t rank) : table_(table), rank_(rank) {}
    [[nodiscard]] std::size_t rank() const override { return rank_; }
    [[nodiscard]] std::size_t count() const override { return table_.said_.size(); }
    [[nodiscard]] std::vector<std::string> exchange(const std::string& own) override {
      table_.said_[rank_] = own;
      table_.barrier_.arrive_and_wait();
      std::vector<std::string> all = table_.said_;
      table_.barrier_.arrive_and_wait();
      return all;
    }

   private:
    Table& table_;
    std::size_t rank_;
  };

  /// Runs the same call in every seat, and gives what each returned.
  static std::vector<std::string> run(std::size_t seats,
                                      const std::function<std::string(std::size_t)>& call) {
    Table table(seats);
    std::vector<std::string> out(seats);
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < seats; ++rank) {
      threads.emplace_back([&, rank] {
        Seat seat(table, rank);
        const WithPeers together(&seat);
        out[rank] = call(rank);
      });
    }
    threads.clear();
    return out;
  }

 private:
  std::vector<std::string> said_;
  std::barrier<> barrier_;
};

std::vector<double> some_numbers(std::size_t i) {
  return std::vector<double>(i % 4, 1.0 / static_cast<double>(i + 1));
}

TEST(SharedMap, ParallelProcessesHaveTheNumbersOfOne) {
  const auto alone = shared_map({}, 11, some_numbers);
  for (const std::size_t seats : {1U, 2U, 3U, 16U}) {
    std::atomic<int> calls = 0;
    const auto found = Table::run(seats, [&](std::size_t) {
      const auto together = shared_map({}, 11, [&](std::size_t i) {
        ++calls;
        return some_numbers(i);
      });
      return std::string(together == alone ? "same" : "other");
    });
    EXPECT_EQ(found, std::vector<std::string>(seats, "same"));
    EXPECT_EQ(calls, 11);
  }
}

TEST(SharedMap, AnExceptionIsThrownByAllParallelProcesses) {
  const auto found = Table::run(3, [](std::size_t) -> std::string {
    try {
      (void)shared_map({}, 7, [](std::size_t i) -> std::vector<double> {
        if (i == 4) throw std::runtime_error("index 4");
        return {};
      });
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "nothing";
  });
  EXPECT_EQ(found, std::vector<std::string>(3, "index 4"));
}

TEST(SharedMap, AStopOfOneProcessInterruptsAllOfThem) {
  std::stop_source stop;
  stop.request_stop();
  const auto found = Table::run(3, [&](std::size_t rank) -> std::string {
    Context context;
    if (rank == 1) context.stop = stop.get_token();
    try {
      (void)shared_map(context, 7, some_numbers);
    } catch (const Interrupted&) {
      return "interrupted";
    }
    return "nothing";
  });
  EXPECT_EQ(found, std::vector<std::string>(3, "interrupted"));
}

TEST(SharedMap, InsideAParallelLoopEveryProcessIsAlone) {
  const auto alone = shared_map({}, 5, some_numbers);
  const auto found = Table::run(2, [&](std::size_t) {
    int same = 0;
    parallel_for({}, 3, [&](std::size_t) { same += shared_map({}, 5, some_numbers) == alone; });
    return std::to_string(same);
  });
  EXPECT_EQ(found, std::vector<std::string>(2, "3"));
}

}  // namespace
}  // namespace onset::numerics
