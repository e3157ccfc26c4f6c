#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <unordered_map>
#include <utility>

#include "onset/core/error.hpp"
#include "onset/study/sweep.hpp"
#include "study/sweep/point_work.hpp"

namespace onset::study {
namespace {

std::vector<std::size_t> places_of(const Plan& plan, const std::vector<std::string>& keys) {
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < plan.points.size(); ++i) places.emplace(plan.points[i].key, i);
  std::vector<std::size_t> chosen;
  for (const std::string& key : keys) {
    const auto found = places.find(key);
    if (found == places.end()) {
      throw InvalidArgument("point", "'" + key +
                                         "' is no point of this study; allowed: a key that onset "
                                         "sweep --list shows");
    }
    chosen.push_back(found->second);
  }
  std::ranges::sort(chosen);
  chosen.erase(std::ranges::unique(chosen).begin(), chosen.end());
  return chosen;
}

/// The places in the list that fall to one job.
std::vector<std::size_t> share_of(const Plan& plan, std::vector<std::size_t> points,
                                  const Shard& shard) {
  std::ranges::stable_sort(points, std::greater{},
                           [&](std::size_t i) { return point_work(plan.points[i]); });
  using Job = std::pair<double, std::size_t>;  // its work so far, its number
  std::priority_queue<Job, std::vector<Job>, std::greater<>> jobs;
  for (std::size_t j = 0; j < shard.count; ++j) jobs.emplace(0.0, j);
  std::vector<std::size_t> mine;
  for (const std::size_t i : points) {
    const auto [work, job] = jobs.top();
    jobs.pop();
    jobs.emplace(work + point_work(plan.points[i]), job);
    if (job == shard.index % shard.count) mine.push_back(i);
  }
  std::ranges::sort(mine);
  return mine;
}

}  // namespace

std::vector<std::size_t> chosen_points(const Plan& plan, const SweepOptions& options) {
  std::vector<std::size_t> points;
  if (options.keys.empty()) {
    points.resize(plan.points.size());
    std::iota(points.begin(), points.end(), std::size_t{0});
  } else {
    points = places_of(plan, options.keys);
  }
  return options.shard.count > 1 ? share_of(plan, std::move(points), options.shard) : points;
}

}  // namespace onset::study
