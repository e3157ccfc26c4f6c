#include <array>

#include "fuzz/fuzzing.hpp"
#include "onset/numerics/expression.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace onset;
  const numerics::ExpressionNames names{{"z1", "z2", "z3"}, "z"};
  const std::string_view text = fuzz::text_of(data, size);
  try {
    const numerics::Expression expression(text, names);
    constexpr std::size_t points = 2;
    constexpr std::array<double, 3 * points> inputs{0.0, -1.5, 1e300, 0.5, 2.0, -0.0};
    std::array<double, points> values{};
    std::array<double, 3 * points> derivatives{};
    expression.gradient(points, inputs.data(), values.data(), derivatives.data());
    (void)expression.degree();
    (void)expression.terms();
    (void)expression.up_to_injections();
    std::vector<double> switches(points * expression.switches());
    expression.switch_values(points, inputs.data(), switches.data());
  } catch (const numerics::SyntaxError& error) {
    fuzz::require(error.position() <= text.size());
  }
  return 0;
}
