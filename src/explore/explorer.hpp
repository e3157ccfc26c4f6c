#pragma once

#include <chrono>
#include <filesystem>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "explore/http.hpp"
#include "explore/json.hpp"
#include "explore/runs.hpp"
#include "onset/core/verb.hpp"

namespace onset::explore {

struct ExplorerSettings {
  std::string token;                                  ///< the secret that addresses begin with
  std::span<const Verb> verbs;                        ///< usually catalog()
  int threads = 1;                                    ///< of every run
  std::size_t memory = 0;                             ///< bytes that a run may use
  std::vector<std::filesystem::path> stores;          ///< to watch
  std::vector<std::filesystem::path> figure_folders;  ///< for the gallery
  std::filesystem::path folder;  ///< where studies that are saved from the page go
  std::stop_token stop = {};     ///< ends waiting for stores that others keep locked
};

/// How long an answer about a run may wait for its end, and how many rows the asker has.
struct RunQuestion {
  std::chrono::milliseconds patience{0};
  std::size_t rows_seen = 0;
};

/// What stands behind the page: it answers requests and knows nothing of sockets, so that tests and
/// fuzzers can ask it anything. Requests may come from several threads at a time.
class Explorer {
 public:
  Explorer(ExplorerSettings settings, Runs& runs, Sweeps& sweeps);

  /// Answers any request whatever; it never throws. A request that is refused changes nothing.
  [[nodiscard]] Response respond(const Request& request);

 private:
  [[nodiscard]] Response answer(const Request& request);
  [[nodiscard]] Response answer_api(const Request& request, const Address& address);
  [[nodiscard]] Response answer_get(const std::string& what);
  [[nodiscard]] Response answer_numbered(const std::string& method, const Address& address,
                                         std::uint64_t number);
  [[nodiscard]] Response answer_post(const std::string& what, const Json& body);
  [[nodiscard]] Response start_run(const Json& body);
  [[nodiscard]] Response run_state(std::uint64_t id, const RunQuestion& question, int status);
  [[nodiscard]] Response start_study(const Json& body);
  [[nodiscard]] Response list_stores();
  [[nodiscard]] Response show_store(std::size_t index, const std::string& seen);
  [[nodiscard]] Response show_study(const std::string& method, const Address& address);
  [[nodiscard]] Response show_report(std::size_t index);
  [[nodiscard]] std::optional<std::filesystem::path> store_at(std::size_t index);

  ExplorerSettings settings_;
  Runs& runs_;
  Sweeps& sweeps_;
  std::mutex stores_mutex_;
  std::vector<std::filesystem::path> stores_;  ///< those given, then those of studies started here
};

}  // namespace onset::explore
