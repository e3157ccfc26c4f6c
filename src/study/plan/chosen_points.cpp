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

/// The places in the list that fall to each of the jobs, ascending. Jobs beyond the last that has a
/// point are left out: since every point is some work, no job gets two while another has none.
std::vector<std::vector<std::size_t>> shares_of(const Plan& plan, std::vector<std::size_t> points,
                                                std::size_t count) {
  std::ranges::stable_sort(points, std::greater{},
                           [&](std::size_t i) { return point_work(plan.points[i]); });
  using Job = std::pair<double, std::size_t>;  // its work so far, its number
  std::priority_queue<Job, std::vector<Job>, std::greater<>> jobs;
  std::vector<std::vector<std::size_t>> shares(std::min(count, points.size()));
  for (std::size_t j = 0; j < shares.size(); ++j) jobs.emplace(0.0, j);
  for (const std::size_t i : points) {
    const auto [work, job] = jobs.top();
    jobs.pop();
    jobs.emplace(work + point_work(plan.points[i]), job);
    shares[job].push_back(i);
  }
  for (std::vector<std::size_t>& share : shares) std::ranges::sort(share);
  return shares;
}

std::vector<std::size_t> all_points(const Plan& plan) {
  std::vector<std::size_t> points(plan.points.size());
  std::iota(points.begin(), points.end(), std::size_t{0});
  return points;
}

}  // namespace

std::vector<std::vector<std::size_t>> job_shares(const Plan& plan, std::size_t count) {
  return shares_of(plan, all_points(plan), count);
}

std::vector<std::size_t> chosen_points(const Plan& plan, const SweepOptions& options) {
  std::vector<std::size_t> points =
      options.keys.empty() ? all_points(plan) : places_of(plan, options.keys);
  const Shard& shard = options.shard;
  if (shard.count <= 1) return points;
  std::vector<std::vector<std::size_t>> shares = shares_of(plan, std::move(points), shard.count);
  const std::size_t job = shard.index % shard.count;
  return job < shares.size() ? std::move(shares[job]) : std::vector<std::size_t>();
}

}  // namespace onset::study
