#include "tool/mpi/workers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "numerics/simd/vector_math.hpp"
#include "onset/catalog.hpp"
#include "onset/core/error.hpp"
#include "tool/exit_codes.hpp"
#include "tool/output.hpp"
#include "tool/stop_watch.hpp"
#include "tool/sweep/process_workers.hpp"

namespace onset::tool {
namespace {

using study::Workers;
using Clock = std::chrono::steady_clock;

// These letters go from rank 0 to the others.
constexpr char start_letter = 'p';  ///< compute this point
constexpr char stop_letter = 's';   ///< abandon the points under way
constexpr char home_letter = 'q';   ///< abandon them and end; a text says that a rank was lost
// This one goes both ways.
constexpr char alive_letter = 'a';  ///< nothing but a sign of life
// These letters go to rank 0.
constexpr char hello_letter = 'h';     ///< threads and memory
constexpr char finished_letter = 'f';  ///< place of a point, and its record unless it was stopped
constexpr char bye_letter = 'b';       ///< the last one

/// The time between two looks at the letters, for which a rank may be idle after a point.
constexpr std::chrono::milliseconds look_interval{2};
/// The time between two signs of life, and the silence after which a rank counts as dead: long for
/// a machine under load, short beside the points that a sweep over machines is made for. One that
/// was only asleep does no harm, since nobody listens to it any more.
constexpr std::chrono::seconds life_interval{1};
constexpr std::chrono::seconds longest_silence{20};
/// The same for rank 0, which may wait for a store that another program has locked.
constexpr std::chrono::minutes longest_silence_of_first{2};

/// Says when a sign of life is due.
class Pulse {
 public:
  [[nodiscard]] bool due() {
    if (Clock::now() < next_) return false;
    next_ = Clock::now() + life_interval;
    return true;
  }

 private:
  Clock::time_point next_ = Clock::now();
};

/// What the others need to know to make the same plan and the same bits.
struct Job {
  int threads = 0;
  std::size_t points_per_rank = 1;
  std::optional<double> max_point_seconds;
  std::string simd;
  std::string file;
  std::string source;

  [[nodiscard]] std::string text() const {
    return fmt::format("{} {} {} {}\n{}\n{}", threads, points_per_rank,
                       max_point_seconds.value_or(0.0), simd, file, source);
  }

  static Job from(const std::string& text) {
    Job job;
    std::istringstream in(text);
    double seconds = 0.0;
    in >> job.threads >> job.points_per_rank >> seconds >> job.simd;
    if (seconds > 0.0) job.max_point_seconds = seconds;
    in.ignore();
    std::getline(in, job.file);
    job.source = text.substr(static_cast<std::size_t>(in.tellg()));
    return job;
  }
};

class MpiWorkers final : public Workers {
 public:
  MpiWorkers(MpiSession& session, const study::Plan& plan, const Job& job, const Context& context)
      : session_(session),
        plan_(plan),
        stop_(context.stop),
        local_(process_workers(plan, job.points_per_rank, context, job.max_point_seconds)) {
    const Clock::time_point deadline = Clock::now() + longest_silence;
    const int others = session_.size() - 1;
    while (static_cast<int>(ranks_.size()) < others && Clock::now() < deadline) {
      if (const auto letter = session_.receive()) {
        if (letter->kind == hello_letter) welcome(*letter, job);
      } else {
        std::this_thread::sleep_for(look_interval);
      }
    }
    lost_ranks_ = others - static_cast<int>(ranks_.size());
    if (lost_ranks_ > 0) say(fmt::format("{} ranks did not start; the others go on", lost_ranks_));
  }
  MpiWorkers(const MpiWorkers&) = delete;
  MpiWorkers& operator=(const MpiWorkers&) = delete;

  /// Receives what the others still send, so that none of them waits forever.
  ~MpiWorkers() override {
    tell_all(home_letter);
    while (!ranks_.empty()) {
      const auto letter = session_.receive();
      if (!letter) std::this_thread::sleep_for(look_interval);
      if (letter) hear(letter->from);
      if (letter && letter->kind == bye_letter) ranks_.erase(letter->from);
      bury_silent_ranks();
    }
    if (lost_ranks_ > 0) session_.leave_early();
  }

  [[nodiscard]] bool has_room(std::size_t index) const override {
    return local_->has_room(index) ||
           std::any_of(ranks_.begin(), ranks_.end(),
                       [index](const auto& rank) { return rank.second.budget.has_room(index); });
  }

  void start(std::size_t index) override {
    for (auto& [number, rank] : ranks_) {
      if (!rank.budget.has_room(index)) continue;
      rank.budget.take(index);
      rank.points.insert(index);
      session_.send(number, start_letter, fmt::format("{}", index));
      return;
    }
    local_->start(index);
  }

  [[nodiscard]] std::optional<Finished> wait(std::chrono::milliseconds patience) override {
    const Clock::time_point deadline = Clock::now() + patience;
    while (Clock::now() < deadline) {
      if (stop_.stop_requested() && !told_to_stop_) {
        tell_all(stop_letter);
        told_to_stop_ = true;
      }
      if (pulse_.due()) tell_all(alive_letter);
      bury_silent_ranks();
      if (auto point = take_lost_point()) return point;
      if (const auto letter = session_.receive()) {
        hear(letter->from);
        if (auto finished = open(*letter)) return finished;
        continue;
      }
      if (auto finished = local_->wait(look_interval)) return finished;
    }
    return std::nullopt;
  }

 private:
  /// Another process that computes points.
  struct Rank {
    study::ThreadBudget budget;
    Clock::time_point heard = Clock::now();  ///< when it last said something
    std::set<std::size_t> points = {};       ///< that it has under way
  };

  void welcome(const MpiSession::Letter& letter, const Job& job) {
    int threads = 1;
    std::size_t memory = 0;
    std::istringstream(letter.text) >> threads >> memory;
    ranks_.emplace(letter.from, Rank{{plan_, job.points_per_rank, threads, memory}});
  }

  void hear(int number) {
    const auto rank = ranks_.find(number);
    if (rank != ranks_.end()) rank->second.heard = Clock::now();
  }

  /// Forgets ranks that have been silent for too long: their points go to the others.
  void bury_silent_ranks() {
    for (auto rank = ranks_.begin(); rank != ranks_.end();) {
      if (Clock::now() < rank->second.heard + longest_silence) {
        ++rank;
        continue;
      }
      const std::set<std::size_t>& points = rank->second.points;
      lost_points_.insert(lost_points_.end(), points.begin(), points.end());
      say(
          fmt::format("rank {} has been silent for {} s and counts as dead; the others go on with "
                      "its {} points",
                      rank->first, longest_silence.count(), points.size()));
      ++lost_ranks_;
      rank = ranks_.erase(rank);
    }
  }

  /// Hands a point of a dead rank to another; when the sweep is to stop, says that it is not done.
  std::optional<Finished> take_lost_point() {
    if (lost_points_.empty()) return std::nullopt;
    const std::size_t index = lost_points_.back();
    if (told_to_stop_) {
      lost_points_.pop_back();
      return Finished{index, std::nullopt};
    }
    if (!has_room(index)) return std::nullopt;
    lost_points_.pop_back();
    start(index);
    return std::nullopt;
  }

  /// The point that a letter brings, if it brings one.
  std::optional<Finished> open(const MpiSession::Letter& letter) {
    const auto rank = ranks_.find(letter.from);
    if (rank == ranks_.end() || letter.kind != finished_letter) return std::nullopt;
    std::size_t read = 0;
    Finished finished{std::stoul(letter.text, &read), std::nullopt};
    rank->second.budget.give_back(finished.index);
    rank->second.points.erase(finished.index);
    if (read + 1 < letter.text.size()) {
      finished.record = study::from_wire(std::string_view(letter.text).substr(read + 1));
      if (finished.record->key != plan_.points[finished.index].key) {
        throw IoError("mpi", fmt::format("rank {} computes other points; are all programs the same "
                                         "version?",
                                         letter.from));
      }
    }
    return finished;
  }

  void tell_all(char kind) {
    const std::string_view text = lost_ranks_ > 0 ? "a rank was lost" : "";
    for (const auto& [number, rank] : ranks_) session_.send(number, kind, text);
  }

  MpiSession& session_;
  const study::Plan& plan_;
  std::stop_token stop_;
  bool told_to_stop_ = false;
  std::unique_ptr<Workers> local_;
  std::map<int, Rank> ranks_;  ///< those that are alive, but for this one
  int lost_ranks_ = 0;
  std::vector<std::size_t> lost_points_;
  Pulse pulse_;
};

/// Computes the points of one rank, until it is sent home. Returns its exit code.
int serve_job(MpiSession& session, const Job& job) {
  // All ranks must use one instruction set, or their bits would differ.
  setenv("ONSET_SIMD", job.simd.c_str(), 1);
  const study::Plan plan = study::make_plan(study::parse_study(job.source, job.file), catalog());
  StopWatch watch(std::nullopt);
  std::stop_source stop;
  const std::stop_callback by_signal(watch.token(), [&stop] { stop.request_stop(); });
  Context context;
  context.threads = rank_threads(session, job.threads);
  context.stop = stop.get_token();
  context.memory_limit = available_memory();
  auto workers = process_workers(plan, job.points_per_rank, context, job.max_point_seconds);
  session.send(0, hello_letter, fmt::format("{} {}", context.threads, context.memory_limit));
  Pulse pulse;
  for (Clock::time_point heard = Clock::now();;) {
    while (const auto letter = session.receive()) {
      heard = Clock::now();
      if (letter->kind == alive_letter) continue;
      if (letter->kind == start_letter) {
        workers->start(std::stoul(letter->text));
        continue;
      }
      stop.request_stop();
      if (letter->kind == stop_letter) continue;
      workers.reset();
      session.send(0, bye_letter, {});
      if (!letter->text.empty()) session.leave_early();
      return exit_ok;
    }
    if (Clock::now() > heard + longest_silence_of_first) {
      say(fmt::format("rank {}: rank 0, which has the store, is silent; run the sweep again",
                      session.rank()));
      session.leave_early();
      return exit_files;
    }
    if (pulse.due()) session.send(0, alive_letter, {});
    if (const auto finished = workers->wait(look_interval)) {
      const std::string record = finished->record ? study::to_wire(*finished->record) : "";
      session.send(0, finished_letter, fmt::format("{} {}", finished->index, record));
    }
  }
}

}  // namespace

int rank_threads(const MpiSession& session, int asked) {
  return asked > 0 ? asked : std::min(session.fair_threads(), available_threads());
}

MpiCrew::~MpiCrew() {
  if (!at_work_) (void)session_.broadcast({});
}

std::unique_ptr<Workers> MpiCrew::workers(const study::Plan& plan, std::size_t points_to_do,
                                          int threads, const Context& context,
                                          std::optional<double> max_point_seconds) {
  const auto ranks = static_cast<std::size_t>(session_.size());
  const Job job{threads,
                (points_to_do + ranks - 1) / ranks,
                max_point_seconds,
                numerics::simd::level(),
                plan.study.place.file,
                plan.study.source};
  at_work_ = true;
  (void)session_.broadcast(job.text());
  return std::make_unique<MpiWorkers>(session_, plan, job, context);
}

int serve(MpiSession& session) {
  const std::string text = session.broadcast({});
  if (text.empty()) return exit_ok;
  try {
    return serve_job(session, Job::from(text));
  } catch (const std::exception& error) {
    // Otherwise the others would wait for this rank forever.
    say(fmt::format("rank {}: {}", session.rank(), error.what()));
    session.abort(exit_internal);
  }
  return exit_internal;
}

}  // namespace onset::tool
