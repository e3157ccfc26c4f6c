// A study from code: one verb at every point of a grid, kept in a store. Run it twice: the second
// time nothing is computed. Usage: sweep STORE

#include <cstdio>

#include "onset/onset.hpp"

int main(int count, char** words) {
  if (count != 2) {
    std::fputs("usage: sweep STORE\n", stderr);
    return 2;
  }
  onset::study::Study study;
  study.name = "width";
  study.command = "aim thresholds";
  study.fixed = {{"channel", std::string("softmax")}};
  study.axes = {{"tokens", {std::int64_t{2}, std::int64_t{3}}}, {"rho", {0.1, 0.5, 1.0}}};

  const onset::study::Plan plan = onset::study::make_plan(study, onset::catalog());
  onset::study::Store store(words[1], onset::study::Store::Mode::write);
  store.put(onset::study::record_of(plan));
  const onset::Context context{.threads = 2};
  const auto workers = onset::study::local_workers(plan, plan.points.size(), context);
  const auto progress = onset::study::run_sweep(plan, store, *workers, {}, context);
  std::fprintf(stderr, "computed %zu of %zu points\n", progress.computed, progress.points);

  const onset::Table table = onset::study::study_table(store.study("width"), store);
  std::fputs(onset::io::to_csv(table).c_str(), stdout);
  return progress.failed == 0 ? 0 : 1;
}
