#include "aim/learners/online/classroom.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "aim/model/training_loss.hpp"

namespace onset::aim {

Classroom::Classroom(const FlowModel& model, std::vector<double> teacher, std::uint64_t seed,
                     const char* purpose, std::uint64_t run)
    : model_(model),
      tokens_(static_cast<std::size_t>(model.labels.tokens)),
      teacher_(std::move(teacher)),
      trace_(std::accumulate(teacher_.begin(), teacher_.end(), 0.0)),
      normals_(seed, purpose, run) {}

void Classroom::draw(std::size_t count, Samples& samples) {
  const std::size_t dim = teacher_.size();
  samples.count = count;
  samples.tokens.resize(count * tokens_ * dim);
  normals_.fill(samples.tokens);
  weighted_.resize(samples.tokens.size());
  for (std::size_t i = 0; i < weighted_.size(); i += dim) {
    for (std::size_t k = 0; k < dim; ++k) {
      weighted_[i + k] = teacher_[k] * samples.tokens[i + k];
    }
  }
  const double scale = 1.0 / std::sqrt(static_cast<double>(dim));
  pair_scores(samples.tokens, weighted_, dim, tokens_, trace_, scale, samples.teacher);
  if (model_.labels.noise_variance > 0.0) add_noise(samples);
}

void Classroom::judge(Samples& samples) const {
  const std::size_t each = tokens_ * tokens_;
  samples.slopes.resize(samples.count * each);
  samples.loss = 0.0;
  samples.disagreements = 0;
  for (std::size_t s = 0; s < samples.count; ++s) {
    const std::span<const double> teacher(samples.teacher.data() + s * each, each);
    const std::span<const double> student(samples.student.data() + s * each, each);
    samples.loss += training_loss(model_.labels, model_.loss, teacher, student,
                                  {samples.slopes.data() + s * each, each});
    for (std::size_t a = 0; a < tokens_; ++a) {
      const auto largest = [&](std::span<const double> scores) {
        const auto row = scores.subspan(a * tokens_, tokens_);
        return std::max_element(row.begin(), row.end()) - row.begin();
      };
      if (largest(teacher) != largest(student)) ++samples.disagreements;
    }
  }
}

void Classroom::add_noise(Samples& samples) {
  std::vector<double> z(samples.teacher.size());
  normals_.fill(z);
  for (std::size_t s = 0; s < samples.count; ++s) {
    double* scores = samples.teacher.data() + s * tokens_ * tokens_;
    const double* noise = z.data() + s * tokens_ * tokens_;
    for (std::size_t a = 0; a < tokens_; ++a) {
      for (std::size_t b = a; b < tokens_; ++b) {
        const double shift = std::sqrt(model_.labels.noise_on(a == b)) * noise[a * tokens_ + b];
        scores[a * tokens_ + b] += shift;
        if (b != a) scores[b * tokens_ + a] += shift;
      }
    }
  }
}

}  // namespace onset::aim
