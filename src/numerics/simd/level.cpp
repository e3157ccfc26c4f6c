// Which instruction set the vector kernels use: the best one, or what ONSET_SIMD says.
#include "numerics/simd/level.hpp"

#include <cstdint>
#include <cstdlib>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/simd/level.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "numerics/simd/dispatch.hpp"
#include "numerics/simd/vector_math.hpp"
#include "onset/core/error.hpp"

HWY_BEFORE_NAMESPACE();
namespace onset::numerics::simd::HWY_NAMESPACE {

// The kernels themselves are asked, so that level() tells what really runs.
const char* compiled_target() {
  return hwy::TargetName(HWY_TARGET);
}

}  // namespace onset::numerics::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace onset::numerics::simd {
namespace {

HWY_EXPORT(compiled_target);

// Bits of the targets that were compiled and that this CPU runs; a lower bit is a better target.
// The static target is always there: it is what the binary itself is compiled for.
std::int64_t supported_targets() {
  return (hwy::SupportedTargets() & HWY_TARGETS) | HWY_STATIC_TARGET;
}

std::int64_t find_target(const std::string& name, const std::string& field) {
  std::string allowed;
  for (std::int64_t rest = supported_targets(); rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    if (name == hwy::TargetName(target)) return target;
    if (!allowed.empty()) allowed += ", ";
    allowed += hwy::TargetName(target);
  }
  throw InvalidArgument(
      field, "'" + name + "' is not a SIMD level of this binary and CPU; allowed: " + allowed);
}

std::int64_t default_target() {
  const char* pinned = std::getenv("ONSET_SIMD");
  if (pinned != nullptr && *pinned != '\0') return find_target(pinned, "ONSET_SIMD");
  const std::int64_t targets = supported_targets();
  return targets & -targets;
}

// Set from the environment at the first use; when that throws, the next use tries again.
hwy::ChosenTarget& mutable_target() {
  static hwy::ChosenTarget target;
  [[maybe_unused]] static const bool ready = [] {
    target.Update(default_target());
    return true;
  }();
  return target;
}

}  // namespace

const hwy::ChosenTarget& chosen_target() {
  return mutable_target();
}

void set_level(const std::string& name) {
  mutable_target().Update(name.empty() ? default_target() : find_target(name, "level"));
}

std::string level() {
  return ONSET_DISPATCH(compiled_target)();
}

std::vector<std::string> supported_levels() {
  std::vector<std::string> names;
  for (std::int64_t rest = supported_targets(); rest != 0; rest &= rest - 1) {
    names.emplace_back(hwy::TargetName(rest & -rest));
  }
  return names;
}

}  // namespace onset::numerics::simd
#endif  // HWY_ONCE
