#pragma once

#include <limits>
#include <string>

#include "onset/core/error.hpp"
#include "onset/core/verb.hpp"

namespace onset {

/// Runs what adds rows to the result: a refusal or an interruption becomes its status, and the rows
/// that were finished stay.
template <class Body>
void keep_rows(Result& result, const Body& body) {
  try {
    body();
  } catch (const Interrupted&) {
    result.status = ResultStatus::interrupted;
    result.reason = "stopped on request; the rows finished by then are given";
  } catch (const Refused& e) {
    result.status = ResultStatus::refused;
    result.reason = e.what();
  }
}

/// Stands for an estimate of the summary that does not exist: it is null in JSON, as is its error.
inline constexpr Estimate no_estimate{std::numeric_limits<double>::quiet_NaN(),
                                      std::numeric_limits<double>::quiet_NaN()};

/// Marks the result as unconverged if in some row the error of `column` exceeds the tolerance or is
/// not known; a tolerance of 0 accepts everything. `remedy` says what would help.
void judge_tolerance(double tolerance, const std::string& column, const std::string& remedy,
                     Result& result);

}  // namespace onset
