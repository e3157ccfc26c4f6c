// When does a layer of attention over three tokens start to be learned, and when is it known
// exactly? Every number has its standard error, and the struct has the command's defaults.

#include <cstdio>

#include "onset/onset.hpp"

int main() {
  const onset::smi::Thresholds request{.layers = 1, .tokens = 3};
  const onset::Call call = request.settle();
  std::printf("about %.2g core-seconds, to a standard error of %g\n", call.cost.core_seconds,
              call.parameters.real("tol"));

  const onset::Result result = request.run({.threads = 2});
  for (std::size_t row = 0; row < result.table.rows().size(); ++row) {
    const auto& kind = std::get<std::string>(result.table.at(row, "kind"));
    std::printf("%s at alpha = %.6f +- %.6f\n", kind.c_str(), result.table.number(row, "alpha"),
                result.table.error(row, "alpha"));
  }
  return result.status == onset::ResultStatus::ok ? 0 : 1;
}
