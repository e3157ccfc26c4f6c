#include "onset/ssi/learners/sgd.hpp"

#include <cmath>
#include <string>

#include "onset/core/error.hpp"

namespace onset::ssi {

void SgdOptions::validate(const SequenceModel& model) const {
  model.validate();
  const auto directions = static_cast<double>(model.all_encodings().own.size());
  const double min_dim = 2.0 + (model.student.activation ? 0.0 : directions);
  if (!(dim >= min_dim) || dim > 1e12 || dim != std::floor(dim)) {
    throw InvalidArgument("dim", "allowed: a whole number from " +
                                     std::to_string(static_cast<int>(min_dim)) + " to 1e12");
  }
  if (!(rate > 0.0)) throw InvalidArgument("rate", "allowed: a positive number");
  if (batch < 1) throw InvalidArgument("batch", "allowed: 1 or more");
  if (!(noise >= 0.0)) throw InvalidArgument("noise", "allowed: a number that is not negative");
  if (runs < 1) throw InvalidArgument("runs", "allowed: 1 or more");
  if (!(level > 0.0) || level > 1.0) throw InvalidArgument("level", "allowed: a number in (0, 1]");
}

}  // namespace onset::ssi
