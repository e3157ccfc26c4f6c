#include "fuzz/fuzzing.hpp"
#include "report/figure_spec.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace onset;
  fuzz::may_refuse([&] {
    report::FigureSpec spec = report::parse_figure(fuzz::text_of(data, size), "figure.toml");
    report::drop_published(spec);
  });
  return 0;
}
