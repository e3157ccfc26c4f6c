#pragma once

/// How far a number may be from what a test expects, where no stated error says so: each with its
/// reason. A test that needs another one names it beside itself, with its reason.
namespace onset::tolerance {

// Rounding: an operation on numbers of order one errs by up to 1.1e-16, and sums of many err by the
// root of their number or, at worst, by their number.

/// A handful of operations.
inline constexpr double few_roundings = 1e-15;
/// Some dozens.
inline constexpr double dozens_of_roundings = 1e-14;
/// Some hundreds, or dozens with exponentials and powers among them.
inline constexpr double hundreds_of_roundings = 1e-13;
/// Some thousands, or a solution of equations that are well conditioned.
inline constexpr double thousands_of_roundings = 1e-12;
/// Tens of thousands, or fewer with numbers of order ten.
inline constexpr double many_roundings = 1e-11;
/// Rounding that a division by something small, or a difference of nearly equal numbers, magnifies.
inline constexpr double magnified_roundings = 1e-10;
/// A sum of squares of what would be zero but for rounding.
inline constexpr double squared_roundings = 1e-20;

// Numbers of the theory or of a paper, given with four digits behind the point.

/// Half a unit of the last digit: it is rounded.
inline constexpr double half_of_fourth_digit = 5e-5;
/// A unit of the last digit: it may have been cut.
inline constexpr double fourth_digit = 1e-4;

// Slopes by central differences, which err by the square of the step times a third derivative and
// by rounding over the step.

/// With a step of 1e-5 and a third derivative of order one.
inline constexpr double difference_quotient = 1e-8;
/// With a step of 1e-4 or a third derivative of order a hundred.
inline constexpr double coarse_difference_quotient = 1e-6;

}  // namespace onset::tolerance
