#include "ssi/limits/spectrum/link_projection.hpp"

#include <algorithm>

#include "onset/core/context.hpp"
#include "ssi/limits/spectrum/token_parts.hpp"

namespace onset::ssi {
namespace {

/// The part with its tokens moved by `shift`, which has one number per token of the link.
TokenPart shifted(const TokenPart& part, const std::vector<double>& shift) {
  std::vector<double> own;
  for (const std::size_t token : part.tokens) own.push_back(shift[token]);
  const auto move = [own](const numerics::BatchFunction& f) {
    return numerics::BatchFunction{f.dimensions, f.outputs,
                                   [own, f](std::size_t count, const double* x, double* out) {
                                     std::vector<double> moved(x, x + own.size() * count);
                                     for (std::size_t i = 0; i < moved.size(); ++i)
                                       moved[i] += own[i / count];
                                     f.evaluate(count, moved.data(), out);
                                   }};
  };
  TokenPart moved = part;
  moved.function = move(part.function);
  moved.switches = move(part.switches);
  return moved;
}

/// Adds up the projections of the parts of a link.
class LinkSum {
 public:
  LinkSum(const Link& link, std::size_t degree)
      : tokens_(link.tokens()), whole_{{link.tokens(), link.outputs(), degree}, 0.0} {}

  void add(const TokenPart& part, const numerics::HermiteProjection& projected) {
    rest_ += projected.rest();
    for (std::size_t s = 0; s <= projected.series.degree(); ++s) {
      projected.series.for_each(s, [&](std::size_t place, std::span<const std::size_t> k) {
        std::vector<std::size_t> index(tokens_, 0);
        for (std::size_t i = 0; i < k.size(); ++i) index[part.tokens[i]] = k[i];
        const std::size_t into = whole_.series.place(index);
        for (std::size_t o = 0; o < projected.series.outputs(); ++o) {
          whole_.series.at(o, into) += projected.series.at(o, place);
        }
      });
    }
  }

  [[nodiscard]] numerics::HermiteProjection projection() const {
    numerics::HermiteProjection result = whole_;
    result.square = rest_;
    for (std::size_t s = 0; s <= whole_.series.degree(); ++s) {
      result.square += whole_.series.weight(s);
    }
    return result;
  }

 private:
  std::size_t tokens_;
  numerics::HermiteProjection whole_;
  double rest_ = 0.0;
};

}  // namespace

numerics::HermiteProjection project_link(const Link& link, const LinkProjection& how,
                                         const Context& context) {
  LinkSum whole(link, how.degree);
  for (const TokenPart& part : token_parts(link)) {
    const auto bracket = project_exactly(part, how.degree, context);
    whole.add(part, bracket ? (how.fine ? bracket->fine : bracket->coarse)
                            : numerics::hermite_series(part.function, how.rule, how.degree));
  }
  return whole.projection();
}

numerics::HermiteProjection project_shifted(const Link& student, const LinkProjection& how,
                                            const std::vector<double>& shift,
                                            const Context& context) {
  const numerics::Expression* expression = student.expression();
  if (expression == nullptr || expression->switches() == 0) {
    return numerics::hermite_series(function_of(student), how.rule, how.degree, shift);
  }
  const bool still = std::all_of(shift.begin(), shift.end(), [](double x) { return x == 0.0; });
  LinkSum whole(student, how.degree);
  for (const TokenPart& part : token_parts(student)) {
    const TokenPart moved = still ? part : shifted(part, shift);
    const bool cut = moved.tokens.size() == 1 || (still && moved.tokens.size() == 2);
    const auto bracket = cut ? project_exactly(moved, how.degree, context) : std::nullopt;
    whole.add(moved, bracket ? (how.fine ? bracket->fine : bracket->coarse)
                             : numerics::hermite_series(moved.function, how.rule, how.degree));
  }
  return whole.projection();
}

}  // namespace onset::ssi
