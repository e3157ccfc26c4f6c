#pragma once

#include <map>
#include <vector>

#include "explore/explorer.hpp"
#include "explore/json.hpp"
#include "onset/study/sweep.hpp"
#include "unit/study/toy_study.hpp"

namespace onset::explore {

/// Runs that are over as soon as they are started, in this thread; a slope of -6, which would go on
/// for ever, has one row and stays under way until it is stopped.
class ToyRuns : public Runs {
 public:
  [[nodiscard]] std::optional<std::uint64_t> start(study::PointRecord begun) override {
    if (states_.size() >= most) return std::nullopt;
    RunState state;
    if (begun.parameters.real("slope") != -6.0) {
      state.record = study::compute_point(verb_, std::move(begun), {});
      state.ended = true;
    } else {
      begun.table.add_row({1.0, Estimate{-6.0, 0.5}});
      state.record = std::move(begun);
    }
    states_[++last_] = std::move(state);
    return last_;
  }
  [[nodiscard]] std::optional<RunState> wait(std::uint64_t id, std::chrono::milliseconds) override {
    const auto found = states_.find(id);
    if (found == states_.end()) return std::nullopt;
    return found->second;
  }
  bool stop(std::uint64_t id) override {
    const auto found = states_.find(id);
    if (found == states_.end()) return false;
    found->second.ended = found->second.stopped = true;
    return true;
  }
  void end() override {}

  std::size_t most = 100;

 private:
  Verb verb_ = study::toy_verb();
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, RunState> states_;
};

/// Sweeps that only remember what was asked.
class ToySweeps : public Sweeps {
 public:
  void start(const std::filesystem::path& study, const std::filesystem::path& store) override {
    started.emplace_back(study);
    running_ = store;
  }
  bool stop(const std::filesystem::path& store) override {
    if (running_ != store) return false;
    running_.clear();
    return true;
  }
  [[nodiscard]] bool running(const std::filesystem::path& store) override {
    return running_ == store;
  }
  void end() override {}

  std::vector<std::filesystem::path> started;

 private:
  std::filesystem::path running_;
};

inline constexpr const char* toy_token = "0123456789abcdef";

/// A request as our own page sends it.
inline Request toy_request(const std::string& path, const std::string& method = "GET",
                           const std::string& body = {}) {
  Request request{method, "/", {{"host", "127.0.0.1:8642"}}, body};
  request.target += toy_token;
  request.target += '/';
  request.target += path;
  return request;
}

/// An explorer of the toy verb in a folder of its own.
struct ToyExplorer {
  study::ScratchFolder folder;
  std::vector<Verb> verbs{study::toy_verb()};
  ToyRuns runs;
  ToySweeps sweeps;
  Explorer explorer;

  explicit ToyExplorer(std::vector<std::filesystem::path> stores = {})
      : explorer(settings(std::move(stores)), runs, sweeps) {}

  ExplorerSettings settings(std::vector<std::filesystem::path> stores) {
    ExplorerSettings out;
    out.token = toy_token;
    out.verbs = verbs;
    out.memory = std::size_t{1} << 30;
    out.stores = std::move(stores);
    out.folder = folder / "";
    return out;
  }

  [[nodiscard]] Response get(const std::string& path) {
    return explorer.respond(toy_request(path));
  }
  [[nodiscard]] Response post(const std::string& path, const std::string& body) {
    return explorer.respond(toy_request(path, "POST", body));
  }
  [[nodiscard]] Response remove(const std::string& path) {
    return explorer.respond(toy_request(path, "DELETE"));
  }
};

inline Json json_of(const Response& response) {
  return Json::parse(response.body);
}

}  // namespace onset::explore
