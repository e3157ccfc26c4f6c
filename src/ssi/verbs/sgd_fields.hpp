#pragma once

#include "core/fields.hpp"
#include "core/prose.hpp"
#include "onset/core/error.hpp"
#include "onset/ssi/learners/sgd.hpp"

/// What requests that run SGD have in common.
namespace onset::ssi {

inline constexpr double max_dim = 1e12;
inline constexpr double max_steps = 1e15;

/// The number of steps that follows from `dim` and `rate`. Throws InvalidArgument where they are
/// too many to be counted.
[[nodiscard]] inline std::uint64_t counted_steps(double steps, double dim, double rate) {
  if (steps <= max_counted_steps) return static_cast<std::uint64_t>(steps);
  throw InvalidArgument("rate", prose(R"(
      {} with `dim = {}` means {:.2g} steps, which are too many to be counted; allowed: a larger
      rate or a smaller `dim`, so that there are at most {:g} steps)",
                                      rate, dim, steps, max_counted_steps));
}

/// dim, rate, runs, start, level.
template <class Request>
void add_sgd_fields(Fields<Request>& fields) {
  fields
      .add("dim", &Request::dim, {.min = 3.0, .max = max_dim, .whole = true},
           "Dimension d of a token, a whole number.")
      .add("rate", &Request::rate, {.min = 0.0, .max = 1e6, .open_min = true},
           "Learning rate eta: w <- w - eta grad l, then |w|^2 = d.")
      .add("runs", &Request::runs, {.min = 1, .max = 1e7}, "Independent runs.")
      .add_word("start", &Request::start, {Start::random, Start::zero, Start::overlapped}, prose(R"(
          random: uniform on the sphere; zero: e = m = 0 exactly; overlapped: m = 1/sqrt(d), e =
          0.)"))
      .add("level", &Request::level, {.min = 0.0, .max = 1.0, .open_min = true},
           "Overlap max(|e|, |m|) whose first passage is recorded.");
}

/// These; the number of steps is left to the verb.
template <class Request>
[[nodiscard]] SgdOptions sgd_options(const Request& request) {
  SgdOptions options;
  options.dim = request.dim;
  options.rate = request.rate;
  options.runs = static_cast<std::size_t>(request.runs);
  options.start = request.start;
  options.level = request.level;
  options.seed = request.seed;
  return options;
}

}  // namespace onset::ssi
