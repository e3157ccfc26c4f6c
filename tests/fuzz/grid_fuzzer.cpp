#include <cmath>

#include "fuzz/fuzzing.hpp"
#include "onset/core/parameters.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace onset;
  for (const ParameterKind kind :
       {ParameterKind::integer, ParameterKind::real, ParameterKind::reals, ParameterKind::grid}) {
    Parameter parameter;
    parameter.name = "x";
    parameter.kind = kind;
    fuzz::may_refuse([&] {
      const Value value = parse_value(parameter, fuzz::text_of(data, size));
      if (const auto* points = std::get_if<std::vector<double>>(&value)) {
        fuzz::require(!points->empty() && points->size() <= max_grid_points);
        for (const double x : *points) fuzz::require(std::isfinite(x));
      }
      fuzz::require(parse_value(parameter, to_text(value)) == value);
    });
  }
  return 0;
}
