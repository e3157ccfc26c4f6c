// The plan is made for a toy, which has a parameter of every kind and takes no time: what the verbs
// do with their values is tested elsewhere.
#include "fuzz/fuzzing.hpp"
#include "unit/study/toy_study.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace onset;
  static const std::vector<Verb> verbs{study::toy_verb()};
  fuzz::may_refuse([&] {
    const study::Study study = study::parse_study(fuzz::text_of(data, size), "study.toml");
    const study::Plan plan = study::make_plan(study, verbs);
    for (const study::Point& point : plan.points) {
      fuzz::require(point.axis_values.size() == plan.axes.size());
    }
  });
  return 0;
}
