#include "smi/model/typed/line_cuts.hpp"

#include <algorithm>

#include "numerics/quadrature/switch_cuts.hpp"

namespace onset::smi {

std::vector<double> FieldLine::fields(const std::vector<double>& places) const {
  const std::size_t count = places.size();
  std::vector<double> out(origin.size() * count);
  for (std::size_t f = 0; f < origin.size(); ++f) {
    for (std::size_t i = 0; i < count; ++i) {
      out[f * count + i] = origin[f] + direction[f] * places[i];
    }
  }
  return out;
}

std::vector<double> line_cuts(const TypedLink& link, const FieldLine& line, double reach,
                              double fineness) {
  const numerics::BatchFunction switches{
      1, link.switches(), [&](std::size_t count, const double* steps, double* out) {
        std::vector<double> places(steps, steps + count);
        for (double& t : places) t /= fineness;
        link.switch_values(count, line.fields(places).data(), out);
      }};
  std::vector<double> ends;
  numerics::add_cuts(switches, reach * fineness, ends);
  for (double& end : ends) end /= fineness;
  ends.insert(ends.end(), {-reach, reach});
  std::sort(ends.begin(), ends.end());
  return ends;
}

std::vector<double> middles(const std::vector<double>& ends) {
  std::vector<double> out;
  for (std::size_t k = 0; k + 1 < ends.size(); ++k) out.push_back(0.5 * (ends[k] + ends[k + 1]));
  return out;
}

}  // namespace onset::smi
