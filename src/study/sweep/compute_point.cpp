#include <chrono>
#include <new>

#include "core/watched_run.hpp"
#include "numerics/simd/vector_math.hpp"
#include "onset/study/sweep.hpp"
#include "onset/version.hpp"
#include "study/sweep/host.hpp"

namespace onset::study {
namespace {

PointStatus status_of(ResultStatus status) {
  switch (status) {
    case ResultStatus::ok: return PointStatus::ok;
    case ResultStatus::unconverged: return PointStatus::unconverged;
    case ResultStatus::refused: return PointStatus::refused;
    case ResultStatus::interrupted: break;
  }
  return PointStatus::failed;
}

/// Runs the verb; returns false when it was stopped.
bool run_into(PointRecord& record, const Verb& verb, const Context& context,
              const ResultWatcher& watch) {
  const auto failed = [&record](const char* reason) {
    record.status = PointStatus::failed;
    record.reason = reason;
    return true;
  };
  try {
    record.simd = numerics::simd::level();
    const Call call = verb.settle(record.parameters.values());
    Result result = watch ? watched_run(verb, call, context, watch) : run(verb, call, context);
    if (result.status == ResultStatus::interrupted) return false;
    record.status = status_of(result.status);
    record.reason = std::move(result.reason);
    record.table = std::move(result.table);
    record.summary = std::move(result.summary);
    record.notes = std::move(result.notes);
    return true;
  } catch (const std::bad_alloc&) {
    return failed("out of memory");
  } catch (const std::exception& error) {
    return failed(error.what());
  } catch (...) {
    return failed("an unknown exception");
  }
}

}  // namespace

PointRecord begin_point(const Verb& verb, const Parameters& parameters, int threads) {
  PointRecord record;
  record.key = identity(verb, parameters);
  record.command = verb.full_name();
  record.method = verb.method;
  record.parameters = parameters;
  record.table = Table(verb.columns());
  record.version = version();
  record.threads = threads;
  record.host = host_name();
  return record;
}

PointRecord begin_point(const Plan& plan, std::size_t index, int threads) {
  return begin_point(*plan.verb, plan.points[index].parameters, threads);
}

std::optional<PointRecord> compute_point(const Verb& verb, PointRecord begun,
                                         const Context& context, const ResultWatcher& watch) {
  const auto start = std::chrono::steady_clock::now();
  if (!run_into(begun, verb, context, watch)) return std::nullopt;
  begun.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  begun.finished = utc_now();
  return begun;
}

PointRecord lost_point(PointRecord begun, std::string reason, double seconds) {
  begun.status = PointStatus::failed;
  begun.reason = std::move(reason);
  begun.simd = numerics::simd::level();
  begun.seconds = seconds;
  begun.finished = utc_now();
  return begun;
}

}  // namespace onset::study
