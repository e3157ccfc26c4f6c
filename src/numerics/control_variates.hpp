#pragma once

#include <Eigen/Core>

namespace onset::numerics {

/// Replicates of a rule that also integrates what is known exactly show how its error there goes
/// with its error elsewhere. `controls` has a row for every replicate: what is known minus its
/// exact value, whose expectation is 0. Returned are weights W: the rows of W A, with the values A
/// of the replicates as rows, are the values less their regression on the controls. The
/// coefficients of every row come from the other replicates, so that the expectation stays what it
/// was, and the rows' scatter is an error still: it is widened by what all coefficients have in
/// common. Controls that do not scatter, and combinations of
/// others, have no effect. Where the mean of the controls is not 0 within some five of its errors,
/// all replicates miss something that their scatter does not know: nothing is taken out.
[[nodiscard]] Eigen::MatrixXd control_weights(const Eigen::MatrixXd& controls);

}  // namespace onset::numerics
