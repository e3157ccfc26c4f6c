#include "mha/verify/row.hpp"

namespace onset::mha::verifier {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Bits = Eigen::Matrix<std::int8_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

ExampleFit::ExampleFit(const Examples& examples, std::size_t example, const Eigen::MatrixXd& sum) {
  const Eigen::Index last = examples.tokens - 1;
  const std::size_t first = example * examples.width();
  x_ = Eigen::Map<const Bits>(&examples.x[first], last + 1, examples.dim).cast<double>();
  y_ = Eigen::Map<const Rows>(&examples.y[first], last + 1, examples.dim);
  y_.rowwise() -= x_.row(last) * sum;
  differences_ = x_.topRows(last).rowwise() - x_.row(last);
  const Eigen::MatrixXd reach = (differences_ * sum).transpose();
  longest_ = reach.colwise().norm().maxCoeff();
  qr_.compute(reach);
  pivot_ = qr_.matrixQR().diagonal().head(last).cwiseAbs().minCoeff();
}

FittedRow ExampleFit::fit(int query) const {
  const Eigen::Index last = x_.rows() - 1;
  const Eigen::VectorXd turned = qr_.householderQ().transpose() * y_.row(query).transpose();
  const auto triangle = qr_.matrixQR().topRows(last).triangularView<Eigen::Upper>();
  FittedRow out{Eigen::VectorXd(last + 1), turned.tail(turned.size() - last).norm()};
  out.attention.head(last) = triangle.solve(turned.head(last));
  out.attention[last] = 1.0 - out.attention.head(last).sum();
  return out;
}

}  // namespace onset::mha::verifier
