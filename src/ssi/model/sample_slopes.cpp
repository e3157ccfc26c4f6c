#include "ssi/model/sample_slopes.hpp"

namespace onset::ssi {

SampleSlopes sample_slopes(const SequenceModel& model, std::size_t samples, const double* teacher,
                           const double* student) {
  const std::size_t outputs = model.target->outputs();
  std::vector<double> residual(outputs * samples);
  std::vector<double> f(outputs * samples);
  model.target->values(samples, teacher, residual.data());
  model.student.link->values(samples, student, f.data());
  for (std::size_t k = 0; k < f.size(); ++k) residual[k] = f[k] - residual[k];
  SampleSlopes out{std::vector<double>(samples), std::vector<double>(model.tokens() * samples)};
  loss_values(model.loss, outputs, samples, residual.data(), out.loss.data());
  loss_weights(model.loss, outputs, samples, residual.data());
  model.student.link->pullback(samples, student, f.data(), residual.data(), out.delta.data());
  return out;
}

}  // namespace onset::ssi
