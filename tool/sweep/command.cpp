#include <fmt/format.h>

#include <chrono>

#include "onset/catalog.hpp"
#include "onset/core/error.hpp"
#include "tool/commands/commands.hpp"
#include "tool/commands/help.hpp"
#include "tool/exit_codes.hpp"
#include "tool/mpi/workers.hpp"
#include "tool/output.hpp"
#include "tool/run_context.hpp"
#include "tool/sweep/options.hpp"
#include "tool/sweep/process_workers.hpp"
#include "tool/sweep/report.hpp"

namespace onset::tool {
namespace {

int show_points(const study::Plan& plan, const SweepRequest& request) {
  const std::optional<study::Store> store = study::open_if_there(request.store);
  write_stdout(
      render(list_points(plan, request, store ? &*store : nullptr), request.common.format));
  return exit_ok;
}

int show_status(const study::Plan& plan, const SweepRequest& request) {
  const std::optional<study::Store> store = study::open_if_there(request.store);
  SweepOutcome outcome;
  if (store) {
    outcome.progress = study::sweep_status(plan, *store, request.sweep);
  } else {
    outcome.progress.points = study::chosen_points(plan, request.sweep).size();
  }
  write_stdout(render(sweep_record(plan, request, outcome), request.common.format));
  if (store && !request.common.quiet) say_troubles(plan, request, *store);
  return exit_ok;
}

/// The number of threads of every rank; 0 means its fair share of its machine.
int threads_asked(const SweepRequest& request) {
  return request.threads_given ? request.common.threads : 0;
}

SweepOutcome compute(const study::Plan& plan, const SweepRequest& request, study::Store& store,
                     MpiCrew* crew, const RunContext& run) {
  const Context& context = run.context();
  const auto show = [&context](const study::SweepProgress& now) {
    context.report(fraction_done(now), progress_line(now));
  };
  const auto start = std::chrono::steady_clock::now();
  const std::size_t missing = study::sweep_status(plan, store, request.sweep).missing();
  const std::optional<double> limit = request.max_point_seconds;
  const auto workers = crew ? crew->workers(plan, missing, threads_asked(request), context, limit)
                            : process_workers(plan, missing, context, limit);
  SweepOutcome outcome;
  outcome.progress = study::run_sweep(plan, store, *workers, request.sweep, context, show);
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  outcome.cause = run.stop_cause();
  return outcome;
}

/// Reports once a sweep has ended, however it did.
int conclude(const study::Plan& plan, const SweepRequest& request, const SweepOutcome& outcome,
             const study::Store& store) {
  const io::RunRecord record = sweep_record(plan, request, outcome);
  write_stdout(render(record, request.common.format));
  if (!request.common.quiet) {
    say_troubles(plan, request, store);
    if (record.result.status != ResultStatus::ok && request.common.format != Format::table) {
      say(fmt::format("{}: {}", to_string(record.result.status), record.result.reason));
    }
  }
  return exit_code(record.result.status, outcome.cause);
}

int sweep(Arguments arguments, MpiSession* session, MpiCrew* crew) {
  const SweepRequest request = read_sweep_request(arguments);
  const study::Plan plan = study::make_plan(study::read_study(request.study), catalog());
  if (request.dry_run || request.list) return show_points(plan, request);
  if (request.status) return show_status(plan, request);
  // A key that there is not must not leave an empty store behind.
  (void)study::chosen_points(plan, request.sweep);

  CommonOptions options = request.common;
  if (session) options.threads = rank_threads(*session, threads_asked(request));
  std::optional<RunContext> run(options);
  std::optional<study::Store> store;
  SweepOutcome outcome;
  try {
    store.emplace(request.store, study::Store::Mode::write, run->context().stop);
    store->put(study::record_of(plan));
    outcome = compute(plan, request, *store, crew, *run);
  } catch (const Interrupted&) {
    return end_locked_out(request.store, run->stop_cause());
  }
  run.reset();  // from here on Ctrl-C ends the process: everything is in the store
  return conclude(plan, request, outcome, *store);
}

}  // namespace

int sweep_command(Arguments arguments) {
  // This is not for people; a sweep starts its workers this way.
  if (arguments.size() == 1 && arguments[0] == "--worker") return serve_points();
  if (wants_help(arguments)) {
    write_stdout(command_help("sweep", sweep_parameters(), "STUDY.toml"));
    return exit_ok;
  }
  const std::unique_ptr<MpiSession> session = MpiSession::join();
  if (!session) return sweep(arguments, nullptr, nullptr);
  if (session->rank() > 0) return serve(*session);
  MpiCrew crew(*session);
  return sweep(arguments, session.get(), &crew);
}

}  // namespace onset::tool
