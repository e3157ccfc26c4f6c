#include "mha/verify/example_fit.hpp"

namespace onset::mha::verifier {

ExampleFit::ExampleFit(const Examples& examples, std::size_t example, const Eigen::MatrixXd& sum) {
  const Index last = examples.tokens - 1;
  const std::size_t first = example * examples.width();
  Matrix tokens(last + 1, examples.dim);
  examples.copy_input(example, tokens.data());
  x_ = tokens;
  y_ = Eigen::Map<const Matrix>(&examples.y[first], last + 1, examples.dim);
  y_.rowwise() -= x_.row(last) * sum;
  differences_ = x_.topRows(last).rowwise() - x_.row(last);
  const Eigen::MatrixXd reach = (differences_ * sum).transpose();
  longest_ = reach.colwise().norm().maxCoeff();
  factors_ = numerics::HouseholderFactors(reach);
}

FittedRow ExampleFit::fit(int query) const {
  const Index last = x_.rows() - 1;
  const numerics::HouseholderFactors::Fit fit = factors_.fit(y_.row(query).transpose());
  FittedRow out{Vector(last + 1), fit.residual};
  out.attention.head(last) = fit.solution;
  out.attention[last] = 1.0 - out.attention.head(last).sum();
  return out;
}

}  // namespace onset::mha::verifier
