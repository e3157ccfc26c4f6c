#include "tool/mpi/workers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
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
constexpr char home_letter = 'q';   ///< abandon them and end
// These letters go to rank 0.
constexpr char hello_letter = 'h';     ///< threads and memory
constexpr char finished_letter = 'f';  ///< place of a point, and its record unless it was stopped
constexpr char bye_letter = 'b';       ///< the last one

/// The time between two looks at the letters, for which a rank may be idle after a point.
constexpr std::chrono::milliseconds look_interval{2};

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
    while (static_cast<int>(ranks_.size()) < session_.size() - 1) {
      if (const auto letter = session_.receive()) {
        welcome(*letter, job);
      } else {
        std::this_thread::sleep_for(look_interval);
      }
    }
  }
  MpiWorkers(const MpiWorkers&) = delete;
  MpiWorkers& operator=(const MpiWorkers&) = delete;

  /// Receives what the others still send, so that none of them waits forever.
  ~MpiWorkers() override {
    tell_all(home_letter);
    for (std::size_t gone = 0; gone < ranks_.size();) {
      if (const auto letter = session_.receive()) {
        gone += letter->kind == bye_letter ? 1 : 0;
      } else {
        std::this_thread::sleep_for(look_interval);
      }
    }
  }

  [[nodiscard]] bool has_room(std::size_t index) const override {
    return local_->has_room(index) ||
           std::any_of(ranks_.begin(), ranks_.end(),
                       [index](const auto& rank) { return rank.second.has_room(index); });
  }

  void start(std::size_t index) override {
    for (auto& [rank, budget] : ranks_) {
      if (!budget.has_room(index)) continue;
      budget.take(index);
      session_.send(rank, start_letter, fmt::format("{}", index));
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
      if (const auto letter = session_.receive()) return open(*letter);
      if (auto finished = local_->wait(look_interval)) return finished;
    }
    return std::nullopt;
  }

 private:
  void welcome(const MpiSession::Letter& letter, const Job& job) {
    int threads = 1;
    std::size_t memory = 0;
    std::istringstream(letter.text) >> threads >> memory;
    ranks_.emplace(letter.from, study::ThreadBudget(plan_, job.points_per_rank, threads, memory));
  }

  Finished open(const MpiSession::Letter& letter) {
    std::size_t read = 0;
    Finished finished{std::stoul(letter.text, &read), std::nullopt};
    ranks_.at(letter.from).give_back(finished.index);
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
    for (const auto& [rank, budget] : ranks_) session_.send(rank, kind, {});
  }

  MpiSession& session_;
  const study::Plan& plan_;
  std::stop_token stop_;
  bool told_to_stop_ = false;
  std::unique_ptr<Workers> local_;
  std::map<int, study::ThreadBudget> ranks_;
};

/// Computes the points of one rank, until it is sent home.
void serve_job(MpiSession& session, const Job& job) {
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
  for (;;) {
    while (const auto letter = session.receive()) {
      if (letter->kind == start_letter) {
        workers->start(std::stoul(letter->text));
        continue;
      }
      stop.request_stop();
      if (letter->kind == stop_letter) continue;
      workers.reset();
      session.send(0, bye_letter, {});
      return;
    }
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
    serve_job(session, Job::from(text));
    return exit_ok;
  } catch (const std::exception& error) {
    // Otherwise the others would wait for this rank forever.
    say(fmt::format("rank {}: {}", session.rank(), error.what()));
    session.abort(exit_internal);
  }
  return exit_internal;
}

}  // namespace onset::tool
