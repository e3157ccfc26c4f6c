#include <chrono>
#include <new>

#include "onset/core/error.hpp"
#include "onset/numerics/simd/vector_math.hpp"
#include "onset/study/sweep.hpp"
#include "onset/version.hpp"
#include "study/host.hpp"
#include "study/point_cost.hpp"

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

/// Runs the verb; false when it was stopped.
bool run_into(PointRecord& record, const Verb& verb, const Context& context) {
  const auto failed = [&record](PointStatus status, const char* reason) {
    record.status = status;
    record.reason = reason;
    return true;
  };
  try {
    record.simd = numerics::simd::level();
    require_memory(verb, record.parameters, context.memory_limit);
    Result result = verb.run(record.parameters, context);
    if (result.status == ResultStatus::interrupted) return false;
    record.status = status_of(result.status);
    record.reason = std::move(result.reason);
    record.table = std::move(result.table);
    record.summary = std::move(result.summary);
    record.notes = std::move(result.notes);
    return true;
  } catch (const Interrupted&) {
    return false;
  } catch (const Refused& refusal) {
    return failed(PointStatus::refused, refusal.what());
  } catch (const std::bad_alloc&) {
    return failed(PointStatus::failed, "out of memory");
  } catch (const std::exception& error) {
    return failed(PointStatus::failed, error.what());
  } catch (...) {
    return failed(PointStatus::failed, "an unknown exception");
  }
}

}  // namespace

PointRecord begin_point(const Plan& plan, std::size_t index, int threads) {
  PointRecord record;
  record.key = plan.points[index].key;
  record.command = plan.verb->full_name();
  record.method = plan.verb->method;
  record.parameters = plan.points[index].parameters;
  record.table = Table(plan.verb->columns);
  record.version = version();
  record.threads = threads;
  record.host = host_name();
  return record;
}

std::optional<PointRecord> compute_point(const Verb& verb, PointRecord begun,
                                         const Context& context) {
  const auto start = std::chrono::steady_clock::now();
  if (!run_into(begun, verb, context)) return std::nullopt;
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

Cost point_cost(const Plan& plan, std::size_t index) {
  if (!plan.verb->cost) return {};
  try {
    return plan.verb->cost(plan.points[index].parameters);
  } catch (const std::exception&) {
    return {};  // parameters that do not go together: the run itself says it better
  }
}

}  // namespace onset::study
